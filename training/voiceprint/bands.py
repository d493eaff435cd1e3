"""What both the training and the graph see of a window."""
import torch

BANDS = 64
FRAMES = 298  # of a window of 3 s


def log_bands(power, filters):
    return torch.log(power @ filters + 1e-5)
