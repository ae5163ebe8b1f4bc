"""The robot's web pages: they read the queue, change nothing, and show every untrusted word as text."""

from assay_zoo.robot.pages.routes import page_routes

__all__ = ["page_routes"]
