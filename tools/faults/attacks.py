"""All attacks, in the order in which they are made."""

from . import configs, crowds, flips, kills, mutations
from .trials import Attack

ATTACKS: tuple[Attack, ...] = (
    kills.ATTACK,
    crowds.ATTACK,
    flips.ATTACK,
    configs.ATTACK,
    mutations.ATTACK,
)
