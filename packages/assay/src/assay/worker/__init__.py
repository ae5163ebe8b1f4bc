"""The other side of the wall: where native code may crash, hang or eat the memory."""
