# /// script
# dependencies = []
# ///
"""The condensers of OpenHands V0 that ask no model. No package has them any more, so this reads a checkout of the repository at a
commit that does: OPENHANDS_V0 names it. Without it there is nothing to ask (exit code 77)."""

import dataclasses
import os
import sys
import types

from recordings import checkout, load, serve_checkout

FOLDER = "openhands/memory/condenser/impl"
CHECKOUT = checkout("OPENHANDS_V0", f"{FOLDER}/recent_events_condenser.py")


# The package imports its whole environment; the modules need a few types of it.
class View(list):
    unhandled_condensation_request = False

    def __init__(self, events):
        super().__init__(events)


@dataclasses.dataclass
class CondensationAction:
    forgotten_events_start_id: int
    forgotten_events_end_id: int


@dataclasses.dataclass
class Condensation:
    action: CondensationAction


class Condenser:
    register_config = classmethod(lambda cls, config: None)


class RollingCondenser(Condenser):
    def condense(self, view):
        return self.get_condensation(view) if self.should_condense(view) else view


STUBS = {
    "openhands.core.config.condenser_config": {"RecentEventsCondenserConfig": None, "AmortizedForgettingCondenserConfig": None},
    "openhands.events.action.agent": {"CondensationAction": CondensationAction},
    "openhands.llm.llm_registry": {"LLMRegistry": None},
    "openhands.memory.condenser.condenser": {
        "Condensation": Condensation, "Condenser": Condenser, "RollingCondenser": RollingCondenser, "View": View
    },
}
for path, names in STUBS.items():
    parts = path.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(parts[end - 1]))
    vars(sys.modules[path]).update(names)


def condenser(name):
    return load(os.path.join(CHECKOUT, FOLDER, f"{name}.py"))


class Conversation:
    """Each call of a response and each result is an event; the first event is the system prompt."""

    def __init__(self, condenser):
        self.condenser, self.written = condenser, 0
        self.events = []
        self.add(None)

    def add(self, item):
        self.events.append(types.SimpleNamespace(id=self.written, item=item))
        self.written += 1

    def request(self, new):
        for item in new:
            if item[0] != "assistant" or not item[2]:
                self.add(item)
            else:
                for index, call in enumerate(item[2]):
                    self.add(["assistant", item[1] if index == 0 else "", [call]])
        while isinstance(view := self.condenser.condense(View(self.events)), Condensation):
            forgotten = range(view.action.forgotten_events_start_id, view.action.forgotten_events_end_id + 1)
            self.events = [event for event in self.events if event.id not in forgotten]
        return [event.item for event in view if event.item is not None], None


def start(variant):
    recent = lambda **settings: condenser("recent_events_condenser").RecentEventsCondenser(keep_first=1, **settings)
    amortized = lambda **settings: condenser("amortized_forgetting_condenser").AmortizedForgettingCondenser(keep_first=1, **settings)
    return {
        "recent-100": lambda: Conversation(recent(max_events=100)),
        "recent-12": lambda: Conversation(recent(max_events=12)),
        "amortized-100": lambda: Conversation(amortized(max_size=100)),
        "amortized-21": lambda: Conversation(amortized(max_size=21)),
    }[variant]()


serve_checkout(start, "OpenHands", CHECKOUT)
