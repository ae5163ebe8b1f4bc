"""Train the segmenter: which digit, if any, inked each 4 x 4 cell of a 64 x 64 scene. Two minutes on one core."""

from __future__ import annotations

import torch
from accuracy import FLOORS, mean_iou
from export import export, predict
from scenes import SIDE, Scenes, compose, split_digits
from torch import Tensor, nn

STEPS, BATCH, SCENES = 1200, 32, 6000


def block(inner: int, outer: int) -> nn.Sequential:
    """A convolution per channel, one across channels, batch normalisation, ReLU."""
    return nn.Sequential(
        nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False), nn.Conv2d(inner, outer, 1, bias=False),
        nn.BatchNorm2d(outer), nn.ReLU(),
    )  # fmt: skip


class Segmenter(nn.Module):
    """(n, 1, 64, 64) uint8 to logits (n, 11, 16, 16): a small U-Net (Ronneberger et al., 2015), down to 4 x 4."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, 16, 5, 2, 2, bias=False), nn.BatchNorm2d(16), nn.ReLU(), block(16, 24), nn.MaxPool2d(2)
        )
        self.fine = nn.Sequential(block(24, 48), block(48, 48))
        self.middle = nn.Sequential(nn.MaxPool2d(2), block(48, 64), block(64, 64))
        self.coarse = nn.Sequential(nn.MaxPool2d(2), block(64, 64), nn.Upsample(scale_factor=2, mode="bilinear"))
        self.join = block(64 + 64, 64)
        self.up = nn.ConvTranspose2d(64, 32, 2, 2)
        self.head = nn.Sequential(block(48 + 32, 48), nn.Conv2d(48, 11, 1))

    def forward(self, image: Tensor) -> Tensor:
        """Background is channel 0, digit d is channel d + 1."""
        fine = self.fine(self.stem(image.float() / 255))
        middle = self.middle(fine)
        up = self.up(self.join(torch.cat([middle, self.coarse(middle)], 1)))
        return self.head(torch.cat([fine, up], 1))


def train(net: nn.Module, scenes: Scenes) -> None:
    """One cycle of AdamW over random batches; ink counts more than background, of which there is more."""
    image, mask = torch.from_numpy(scenes.image), torch.from_numpy(scenes.mask)
    weight = torch.tensor([1.0] + [2.0] * 10)
    optimizer = torch.optim.AdamW(net.parameters(), lr=6e-3, weight_decay=2e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, STEPS)
    for _ in range(STEPS):
        pick = torch.randint(SCENES, (BATCH,))
        loss = nn.functional.cross_entropy(net(image[pick]), mask[pick], weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


def main() -> None:
    """Train, export, and measure the exported file on scenes of held-out digits."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    digits, held_out = split_digits()
    net = Segmenter()
    train(net, compose(digits, SCENES, seed=1))
    path = export(net, "segmenter", torch.zeros(1, 1, SIDE, SIDE, dtype=torch.uint8), ["logits"])
    scenes = compose(held_out, 512, seed=2)
    reached = mean_iou(predict(path, scenes.image)[0], scenes.mask)
    print(f"mean IoU on 512 scenes of held-out digits: {reached:.4f} (at least {FLOORS['segmenter']})")


if __name__ == "__main__":
    main()
