"""A message arrives whole between the packets of others, and nothing of theirs gets into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import packets
from assay.core.packets import MAXIMUM_BYTES, PACKET_BYTES, TOKEN_BYTES, Message, NoPacket
from assay.errors import HarnessError

TOKEN, OTHER = b"t" * TOKEN_BYTES, b"o" * TOKEN_BYTES
BODY = bytes(range(256)) * 600


def _read(message: Message, arriving: list[bytes]) -> tuple[list[bytes], int]:
    whole, noise = [], 0
    for packet in arriving:
        try:
            body = message.add(packet)
        except NoPacket:
            noise += 1
            continue
        if body is not None:
            whole.append(body)
    return whole, noise


@given(st.lists(st.tuples(st.integers(0, 3), st.binary(max_size=80)), max_size=8))
def test_packets_of_others_change_nothing(others: list[tuple[int, bytes]]) -> None:
    arriving = packets.packets(TOKEN, BODY)
    assert len(arriving) == 3
    for place, data in others:
        arriving.insert(place, data)
    assert _read(Message(TOKEN), arriving) == ([BODY], len(others))


@pytest.mark.parametrize(
    "forged",
    [
        packets.packets(OTHER, b"an answer to another question")[0],
        TOKEN + b"\xff" * 8,
        TOKEN + (0).to_bytes(4, "little") + (2**31).to_bytes(4, "little"),
        packets.packets(TOKEN, b"x" * 2 * PACKET_BYTES)[1],
        TOKEN,
        b"",
    ],
)
def test_what_is_forged_is_no_packet(forged: bytes) -> None:
    with pytest.raises(NoPacket):
        Message(TOKEN).add(forged)


def test_half_a_message_is_forgotten_with_its_question() -> None:
    message = Message(TOKEN)
    first, *rest = packets.packets(TOKEN, BODY)
    message.add(first)
    message.expect(OTHER)
    assert _read(message, [*rest, *packets.packets(OTHER, b"answer")]) == ([b"answer"], len(rest))


def test_a_message_past_the_limit_is_refused() -> None:
    with pytest.raises(HarnessError, match="67,108,865 bytes long, and at most 67,108,864 are sent"):
        packets.packets(TOKEN, bytes(MAXIMUM_BYTES + 1))
