"""What users mean by the same answer: classification, detection, segmentation."""
