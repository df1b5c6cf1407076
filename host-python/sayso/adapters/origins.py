"""Who is speaking: the words of a turn in Hermes, told apart into what a person said and what was put around it.

Hermes hands a turn over as one text. It may be a person's, or a harness prompt, a scheduled job, a subagent's goal,
a skill's body, or a person's words with notes, names and quotations in front. Only what is proved to be a person's
gets the origin `human`; whatever is in doubt gets another one, because a wrong `human` lets a made-up claim pass,
and a wrong `harness` costs a retry.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from ..types import Origin

HEARD_MAX = 256
"""Gateway messages kept until their turn comes."""

# Surfaces with one person in front of them. Everything else is a chat platform or a machine.
LOCAL = frozenset({"", "cli", "tui", "desktop", "acp", "local", "codex", "vscode"})

# Text that the harness speaks as the user, whole: nothing after such a beginning is a person's.
# From 0.19 gateway/run.py, cron/scheduler.py, tools/process_registry.py, hermes_cli/goals.py,
# agent/context_compressor.py, and their successors in 0.22.2.
HARNESS = (
    "[IMPORTANT:",
    "[ASYNC DELEGATION",
    "[CONTEXT ",
    "[PRIOR CONTEXT",
    "[Continuing toward",
    "[OUT-OF-BAND",
    "[SYSTEM",
    "[System:",
    "[Your active task list",
    "[Planning state preserved",
    "[Runtime note:",
    "Cronjob Response:",
)

# The background review's prompt (agent/background_review.py, the same beginning in both versions).
REVIEW = "Review the conversation above and "

# How an invoked skill is spelled out (agent/skill_commands.py, the same in both versions).
SKILL = "[IMPORTANT: The user has invoked the "
SKILL_FOOTER = "then run them with the terminal tool using the absolute path."
SKILL_WORDS = "\nThe user has provided the following instruction alongside the skill invocation: "
BUNDLE = " skill bundle,"
BUNDLE_WORDS = "\nUser instruction: "
BUNDLE_BODY = "\n\n[Loaded as part of the "

# Notes that Hermes puts in front of a person's words, each a bracketed paragraph of its own.
NOTE = re.compile(
    r"\[(?:System note:|Replying to|Triggering message id:|The user sent|voice message could not|If you need a closer)"
    r".*?\](?:\n\n|\s*\Z)",
    re.DOTALL,
)
# What stands in front of the newest message of a chat whose earlier lines were filled in.
BACKFILL = "[New message]\n"
# What follows a person's words when an @-reference was expanded (agent/context_references.py).
ATTACHED = re.compile(r"\n\n--- (?:Attached Context|Context Warnings) ---\n")
NAME = re.compile(r"\A\[[^\[\]\n]{1,64}\] ")


@dataclass(frozen=True, slots=True)
class Utterance:
    """A part of a turn and who really wrote it. `author` is the platform's id in a shared chat, otherwise ""."""

    origin: Origin
    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as the gateway received it, before anything was put around it."""

    platform: str
    chat: str
    author: str
    text: str
    shared: bool


class Inbox:
    """Messages that the gateway has received and whose turn has not come yet. Safe for several threads."""

    def __init__(self) -> None:
        self._heard: deque[Heard] = deque(maxlen=HEARD_MAX)
        self._platforms: set[str] = set()
        self._lock = threading.Lock()

    def hear(self, event: Any) -> None:
        """Notes the event of `pre_gateway_dispatch`."""
        source = getattr(event, "source", None)
        platform = getattr(source, "platform", "")
        heard = Heard(
            platform=str(getattr(platform, "value", platform) or ""),
            chat=str(getattr(source, "chat_id", "") or ""),
            author=str(getattr(source, "user_id", "") or ""),
            text=str(getattr(event, "text", "") or "").strip(),
            shared=str(getattr(source, "chat_type", "dm") or "dm") != "dm",
        )
        if bool(getattr(event, "internal", False)):
            return
        with self._lock:
            self._platforms.add(heard.platform)
            self._heard.append(heard)

    def speaks_for(self, platform: str) -> bool:
        """Whether the gateway has ever received a message of that platform in this process."""
        with self._lock:
            return platform in self._platforms

    def take(self, platform: str, chat: str, text: str) -> list[Heard]:
        """Takes out the messages that make up the end of `text`, oldest first; a turn may hold several.

        The end is matched, not any part: a quotation of an earlier message in front of the words is no utterance.
        """
        taken: list[Heard] = []
        with self._lock:
            rest = _words(text)
            for heard in reversed(list(self._heard)):
                if heard.platform != platform or (chat and heard.chat != chat):
                    continue
                if heard.text and rest.endswith(heard.text):
                    taken.insert(0, heard)
                    self._heard.remove(heard)
                    rest = rest[: -len(heard.text)].rstrip()
                    rest = re.sub(r"\[[^\[\]\n]{1,64}\]\Z", "", rest).rstrip() if heard.shared else rest
                elif not heard.text and not taken:
                    # A voice message: its words come from the transcript, which stands alone in quotation marks.
                    spoken = re.sub(r'\A"(.*)"\Z', r"\1", _unnoted(rest, heard.shared), flags=re.DOTALL)
                    taken.insert(0, Heard(platform, heard.chat, heard.author, spoken, heard.shared))
                    self._heard.remove(heard)
                    break
        return [heard for heard in taken if heard.text]


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts where images stand beside the words."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


def utterances(
    text: str, *, platform: str, task: str, review: bool, inbox: Inbox, chat: str = "", child: bool = False
) -> list[Utterance]:
    """Tells a turn's text apart. `task` is Hermes' task id, `child` says that the session is known as a subagent's."""
    if review or text.startswith(REVIEW):
        return [Utterance("review", text)]
    if platform == "cron" or text.startswith("[IMPORTANT: You are running as a scheduled cron job."):
        return [Utterance("cron", text)]
    if child or platform == "subagent" or task.startswith("sa-"):
        return [Utterance("subagent", text)]
    if text.startswith(SKILL):
        words = _skill_instruction(text)
        injected = Utterance("injected", text if not words else text.replace(words, "", 1))
        return [injected, Utterance("human", words)] if words else [injected]
    if platform not in LOCAL and inbox.speaks_for(platform):
        heard = inbox.take(platform, chat, text)
        if heard:
            said = [Utterance("human", one.text, one.author if one.shared else "") for one in heard]
            around = _around(text, [one.text for one in heard])
            return ([Utterance("injected", around)] if around else []) + said
        # The gateway shows every person's message to the hook, and hides its own: this one is its own.
        return [Utterance("harness", text)]
    if text.startswith(HARNESS):
        return [Utterance("harness", text)]
    words = _unnoted(_words(text), shared=platform not in LOCAL)
    around = _around(text, [words]) if words else text
    said = [Utterance("human", words)] if words else []
    return ([Utterance("injected", around)] if around else []) + said


def in_review() -> bool:
    """Whether this runs inside a background review, by the mark that Hermes puts on the context of its tool calls."""
    if threading.current_thread().name.startswith("bg-review"):
        return True
    try:
        from tools.skill_provenance import get_current_write_origin

        return bool(get_current_write_origin() == "background_review")
    except Exception:
        return False


def session_value(name: str) -> str:
    """A value that Hermes binds to the context of a gateway's turn, such as `HERMES_SESSION_CHAT_ID`, or ""."""
    try:
        from gateway.session_context import get_session_env

        return str(get_session_env(name, "") or "")
    except Exception:
        return ""


def _words(text: str) -> str:
    """The text without what follows a person's words."""
    return ATTACHED.split(text, maxsplit=1)[0].strip()


def _unnoted(text: str, shared: bool) -> str:
    """The text without what stands in front of a person's words."""
    rest = text
    while True:
        found = NOTE.match(rest)
        if not found:
            break
        rest = rest[found.end() :].lstrip("\n")
    if shared:
        rest = rest.rpartition(BACKFILL)[2]
        rest = NAME.sub("", rest)
    return rest.strip()


def _around(text: str, said: list[str]) -> str:
    """What is left of the turn when the words said are taken out of its end."""
    rest = text
    for words in reversed(said):
        head, found, tail = rest.rpartition(words)
        rest = f"{head}{tail}" if found else rest
    return rest.strip()


def _skill_instruction(text: str) -> str:
    """The person's own words beside a skill or a bundle that was invoked, or "".

    A skill's body is somebody else's text and may quote the markers. A bundle puts the words before the first body; a
    single skill puts them after the note that closes the body, so a marker inside a body is never the one that counts.
    """
    if BUNDLE in text.partition("\n")[0]:
        head = text.partition(BUNDLE_BODY)[0]
        return head.partition(BUNDLE_WORDS)[2].strip()
    closing = text.rfind(SKILL_FOOTER)
    marker = text.rfind(SKILL_WORDS)
    if closing < 0 or marker < closing:
        return ""
    return text[marker + len(SKILL_WORDS) :].partition("\n\n[Runtime note:")[0].strip()
