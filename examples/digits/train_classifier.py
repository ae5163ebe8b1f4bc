"""Train the classifier: an 8 x 8 digit to ten logits. `python examples/digits/train_classifier.py`, a few seconds."""

from __future__ import annotations

import torch
from accuracy import FLOORS, top1
from export import export, predict
from scenes import split_digits
from torch import Tensor, nn

STEPS, BATCH = 1500, 128


def network() -> nn.Module:
    """(n, 1, 8, 8) float32 in [0, 1] to (n, 10) logits."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10),
    )  # fmt: skip


def jitter(image: Tensor) -> Tensor:
    """Moved by up to a pixel and printed lighter or darker: what a second writer would do."""
    down, right = (int(by) for by in torch.randint(-1, 2, (2,)))
    return torch.roll(image, (down, right), (2, 3)) * (0.8 + 0.2 * torch.rand(len(image), 1, 1, 1))


def main() -> None:
    """Train, export, and measure the exported file on the held-out digits."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, held_out = split_digits()
    images, labels = torch.from_numpy(train.images)[:, None], torch.from_numpy(train.labels)
    net = network()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, STEPS)
    for _ in range(STEPS):
        pick = torch.randint(len(labels), (BATCH,))
        loss = nn.functional.cross_entropy(net(jitter(images[pick])), labels[pick], label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    path = export(net, "classifier", images[:1], ["logits"])
    reached = top1(predict(path, held_out.images[:, None])[0], held_out.labels)
    print(f"top-1 on {len(held_out.labels)} held-out digits: {reached:.4f} (at least {FLOORS['classifier']})")


if __name__ == "__main__":
    main()
