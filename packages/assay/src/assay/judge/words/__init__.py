"""The words for what was observed and judged: sentences are made here, of codes and numbers, and nowhere else in this room."""
