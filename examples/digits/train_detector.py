"""Train the detector: digits in a 64 x 64 scene, one candidate per cell of an 8 x 8 grid. Two minutes on one core."""

from __future__ import annotations

import torch
from accuracy import FLOORS, mean_average_precision
from export import export, predict
from scenes import MOST_DIGITS, SIDE, Scenes, compose, split_digits
from torch import Tensor, nn

STEPS, BATCH, SCENES = 1600, 32, 6000
GRID = 8
CELL = SIDE // GRID


def block(inner: int, outer: int, stride: int = 1) -> nn.Sequential:
    """Convolution, batch normalisation, ReLU."""
    return nn.Sequential(nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU())


class Detector(nn.Module):
    """(n, 1, 64, 64) uint8 to boxes (n, 64, 4) xyxy pixels, scores (n, 64) and classes (n, 64) int64."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            block(1, 12),
            nn.MaxPool2d(2),
            block(12, 24),
            nn.MaxPool2d(2),
            block(24, 32),
            block(32, 48, 2),
            block(48, 40),
        )
        self.head = nn.Conv2d(40, 1 + 4 + 10, 1)
        at = torch.arange(GRID, dtype=torch.float32)
        self.register_buffer("cells", torch.stack(torch.meshgrid(at, at, indexing="xy")))

    def raw(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The logit of a digit's centre in the cell (n, 1, 8, 8); its offset and size (n, 4, 8, 8); the logits of its
        class (n, 10, 8, 8)."""
        centre, box, kind = self.head(self.body(image.float() / 255)).split([1, 4, 10], 1)
        return centre, box, kind

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """One candidate per cell. A cell less sure than a neighbour fades out instead of being cut off: the same as a
        test for peaks, but continuous, so that a rounding error moves a score a little and never flips it. Where the
        score says that nothing is there the class is 0."""
        centre, box, kind = self.raw(image)
        heat = torch.sigmoid(centre)
        peak = nn.functional.max_pool2d(heat, 3, 1, 1)
        scores = torch.relu(heat - 4 * (peak - heat)).reshape(-1, GRID * GRID)
        boxes = self.decode(box).permute(0, 2, 3, 1).reshape(-1, GRID * GRID, 4)
        classes = torch.argmax(kind, 1).reshape(-1, GRID * GRID) * (scores > 0.05).long()
        return boxes, scores, classes

    def decode(self, raw: Tensor) -> Tensor:
        """(n, 4, 8, 8) raw to xyxy pixels: the centre inside its cell, the sides between nothing and half a scene."""
        offset, size = torch.sigmoid(raw).split(2, 1)
        middle, half = (self.cells + offset) * CELL, size * (SIDE / 4)
        return torch.cat([middle - half, middle + half], 1)


def loss_of(net: Detector, image: Tensor, boxes: Tensor, classes: Tensor) -> Tensor:
    """Centre found, box within pixels, class right; the last two only in the cells that hold a centre."""
    centre, box, kind = net.raw(image)
    sample, slot = torch.nonzero(classes >= 0, as_tuple=True)
    true = boxes[sample, slot]
    column, row = (((true[:, i] + true[:, i + 2]) / 2 / CELL).long() for i in (0, 1))
    heat = torch.zeros(len(image), GRID, GRID)
    heat[sample, row, column] = 1
    presence_loss = nn.functional.binary_cross_entropy_with_logits(centre[:, 0], heat, reduction="sum")
    placed = nn.functional.smooth_l1_loss(net.decode(box)[sample, :, row, column], true, reduction="sum")
    named = nn.functional.cross_entropy(
        kind[sample, :, row, column], classes[sample, slot], reduction="sum", label_smoothing=0.05
    )
    return (presence_loss + 0.1 * placed + named) / len(sample)


def train(net: Detector, scenes: Scenes) -> None:
    """One cycle of AdamW over random batches."""
    image, boxes, classes = (torch.from_numpy(part) for part in (scenes.image, scenes.boxes, scenes.classes))
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, STEPS)
    for _ in range(STEPS):
        pick = torch.randint(SCENES, (BATCH,))
        loss = loss_of(net, image[pick], boxes[pick], classes[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


def main() -> None:
    """Train, export, and measure the exported file on scenes of held-out digits."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    digits, held_out = split_digits()
    net = Detector()
    train(net, compose(digits, SCENES, seed=1))
    path = export(net, "detector", torch.zeros(1, 1, SIDE, SIDE, dtype=torch.uint8), ["boxes", "scores", "classes"])
    scenes = compose(held_out, 512, seed=2)
    reached = mean_average_precision(*predict(path, scenes.image), scenes.boxes, scenes.classes)
    print(
        f"mAP@0.5 on 512 scenes of one to {MOST_DIGITS} held-out digits: {reached:.4f} (at least {FLOORS['detector']})"
    )


if __name__ == "__main__":
    main()
