"""An app at the fake GitHub, and its key."""

from __future__ import annotations

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from assay_zoo.robot.config_schema import GithubTable, SecretPlace
from assay_zoo.robot.sources.github import Github

REPOSITORY = "zoo/models"


KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


PEM = KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()


PUBLIC = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def with_token(address: str, token: str) -> Github:
    return Github(GithubTable(repository=REPOSITORY, api=address, token=SecretPlace(env="X")), token)
