"""The client of Gatehouse: reads, commands, events, history and webhooks of one game server.

`Gatehouse` blocks and needs only the standard library; `AsyncGatehouse` needs aiohttp. This file is the whole package.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import codecs
import hashlib
import hmac
import http.client
import io
import json
import math
import random
import re
import secrets
import socket
import sys
import threading
import time
import weakref
from datetime import datetime
from decimal import Decimal
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Coroutine,
    Dict,
    Generator,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypedDict,
    TypeVar,
    Union,
    cast,
)
from urllib.parse import quote, urlencode, urlsplit

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

__version__ = "0.2.0"
__all__ = [
    "AsyncCommand",
    "AsyncEventStream",
    "AsyncGatehouse",
    "Command",
    "EventStream",
    "Gatehouse",
    "GatehouseError",
    "LimitState",
    "PlayerName",
    "ServerReading",
    "pages",
    "split_player",
    "verify_webhook",
]

# Written by scripts/write-client-types.ts from the schemas of Gatehouse. Do not change these types by hand.

Section = Literal[
    "Players",
    "Staff",
    "JoinLogs",
    "Queue",
    "KillLogs",
    "CommandLogs",
    "ModCalls",
    "EmergencyCalls",
    "Vehicles",
]


EventType = Literal[
    "player.joined",
    "player.left",
    "player.killed",
    "command.used",
    "modcall.opened",
    "modcall.answered",
    "call.opened",
    "call.changed",
    "call.closed",
    "custom.command",
    "custom.unknown",
    "player.changed",
    "vehicle.spawned",
    "vehicle.removed",
    "staff.added",
    "staff.removed",
    "queue.changed",
    "server.changed",
    "server.online",
    "server.offline",
    "server.unreachable",
    "alert.raised",
    "alert.cleared",
    "gap",
    "modcall.claimed",
    "modcall.released",
]


EventSource = Literal["log", "diff", "webhook", "gateway"]


CommandStatus = Literal["queued", "sending", "sent", "failed", "unknown", "expired", "cancelled"]


class Location(TypedDict):
    #: X position on the map
    LocationX: NotRequired[float]
    #: Z position on the map
    LocationZ: NotRequired[float]
    #: Postal code
    PostalCode: NotRequired[str]
    #: Street name
    StreetName: NotRequired[str]
    #: Building number
    BuildingNumber: NotRequired[str]


class Player(TypedDict):
    #: The player's team
    Team: NotRequired[str]
    #: <player_name>:<player_id>; the id may exceed 2^53
    Player: NotRequired[str]
    #: Null for civilians, who have none
    Callsign: NotRequired[Optional[str]]
    Location: NotRequired[Location]
    #: Normal, Server Administrator, Server Owner, Server Co-Owner, Server Moderator, or newer
    Permission: NotRequired[str]
    #: Number of wanted stars
    WantedStars: NotRequired[int]


class Staff(TypedDict):
    #: user id -> player name; the id may exceed 2^53
    Admins: Dict[str, str]
    #: user id -> player name; the id may exceed 2^53
    Mods: Dict[str, str]
    #: user id -> player name; the id may exceed 2^53
    Helpers: Dict[str, str]


class JoinLog(TypedDict):
    #: true: joined, false: left
    Join: NotRequired[bool]
    #: Unix timestamp in seconds
    Timestamp: NotRequired[int]
    #: <player_name>:<player_id>; the id may exceed 2^53
    Player: NotRequired[str]


class KillLog(TypedDict):
    #: <player_name>:<player_id>; the id may exceed 2^53
    Killed: NotRequired[str]
    #: Unix timestamp in seconds
    Timestamp: NotRequired[int]
    #: <player_name>:<player_id>; the id may exceed 2^53
    Killer: NotRequired[str]


class CommandLog(TypedDict):
    #: <player_name>:<player_id>; the id may exceed 2^53
    Player: NotRequired[str]
    #: Unix timestamp in seconds
    Timestamp: NotRequired[int]
    #: The command as it was typed
    Command: NotRequired[str]


class ModCall(TypedDict):
    #: <player_name>:<player_id>; the id may exceed 2^53
    Caller: NotRequired[str]
    #: <player_name>:<player_id> of who came (the id may exceed 2^53); null when nobody did
    Moderator: NotRequired[Optional[str]]
    #: Unix timestamp in seconds
    Timestamp: NotRequired[int]


class EmergencyCall(TypedDict):
    #: The team that took the call
    Team: NotRequired[str]
    #: Id of the player who called: an integer that may exceed 2^53
    Caller: NotRequired[int]
    #: Ids of the players who take part, each an integer that may exceed 2^53
    Players: NotRequired[List[int]]
    #: [X, Z]
    Position: NotRequired[List[float]]
    #: Unix timestamp in seconds
    StartedAt: NotRequired[int]
    #: Number of the call
    CallNumber: NotRequired[int]
    #: What it is about
    Description: NotRequired[str]
    #: Where it is, in words
    PositionDescriptor: NotRequired[str]


class Vehicle(TypedDict):
    #: Vehicle name
    Name: NotRequired[str]
    #: Name of the vehicle's owner
    Owner: NotRequired[str]
    #: Livery; null when it has none
    Texture: NotRequired[Optional[str]]
    #: #RRGGBB, in any case of letters
    ColorHex: NotRequired[str]
    #: Name of the colour
    ColorName: NotRequired[str]


class ServerBase(TypedDict):
    #: Server name
    Name: str
    #: Id of the server's owner: an integer that may exceed 2^53
    OwnerId: int
    #: Ids of the co-owners, each an integer that may exceed 2^53
    CoOwnerIds: List[int]
    #: How many are playing
    CurrentPlayers: int
    #: How many can play
    MaxPlayers: int
    #: Key to join the server with
    JoinKey: str
    #: What an account must have verified: Disabled, Email, Phone, ID, or newer
    AccVerifiedReq: str
    #: Whether teams are kept in balance
    TeamBalance: bool


class EventPage(TypedDict):
    #: Oldest first
    items: List[Event]
    #: A cursor: send it as `after` to get what follows it
    next: str
    #: Only when reading backwards: the `before` of the page with older events
    previous: NotRequired[str]
    #: Whether there are more events in the direction of reading; they may not pass the filter
    has_more: bool


Gap = TypedDict(
    "Gap",
    {
        #: `*`: everything that is compared between readings
        "section": "Literal[\"Players\", \"Staff\", \"JoinLogs\", \"Queue\", \"KillLogs\", \"CommandLogs\", \"ModCalls\", \"EmergencyCalls\", \"Vehicles\", \"*\"]",
        "reason": "Literal[\"no_overlap\", \"not_watched\", \"archive\", \"server_replaced\", \"retention\"]",
        #: In epoch milliseconds; null where unknown
        "from": "Optional[int]",
        #: In epoch milliseconds; null where unknown
        "to": "Optional[int]",
    },
)


class ServerStateData(TypedDict):
    #: The game API's code; null when online
    upstream_code: Optional[int]
    #: What the game API said; null when online
    upstream_message: Optional[str]


class StaffMember(TypedDict):
    Role: Literal["Admins", "Mods", "Helpers"]
    #: An id as text
    UserId: str
    Name: str


class CustomCommand(TypedDict):
    Command: str
    Argument: str
    #: An id as text
    Player: str


class Alert(TypedDict):
    rule: Literal["kills", "mass_command", "unanswered_modcall", "offline", "unreachable", "players"]
    #: `Name:id` of a player, or `server`
    subject: str
    #: A short English sentence
    text: str


class EventMetaSentBy(TypedDict):
    """Who sent that command."""

    kind: Literal["person", "key"]
    #: Id of the person or key
    id: str
    #: The person's name or the key's label at that time
    name: str


class EventMeta(TypedDict):
    """What Gatehouse adds to some events."""

    #: What was before: the changed fields of a player or the settings, or the queue
    before: NotRequired[Any]
    #: The fields of a call that changed
    changed: NotRequired[List[str]]
    #: When a call for a moderator was answered: after the first time and before the second, in epoch milliseconds
    answered_between: NotRequired[List[int]]
    #: Of a command that was sent through Gatehouse
    command_id: NotRequired[str]
    #: Who sent that command
    sent_by: NotRequired[EventMetaSentBy]
    by: NotRequired[Who]
    #: The players that a command was aimed at, as `Name:id`, as far as its first argument names them
    targets: NotRequired[List[str]]
    #: The ids of the events that an alert is about
    events: NotRequired[List[str]]
    #: What an alert says, in one word, such as `kills`
    code: NotRequired[str]
    #: The numbers and texts in the sentence of an alert, such as `count`
    values: NotRequired[Dict[str, Union[int, str]]]


class CommandReceipt(TypedDict):
    #: Id of the command
    command_id: str
    status: Literal["queued"]
    #: 1 for the next to be sent
    position: int
    #: Epoch milliseconds
    queued_at: int


class CommandResourceSentBy(TypedDict):
    """Who sent it: a person or a key, by the name of that time."""

    kind: Literal["person", "key"]
    #: Id of the person or key
    id: str
    #: The person's name or the key's label at that time
    name: str


class CommandResource(TypedDict):
    #: Id of the command
    command_id: str
    #: Id of the key that sent it; of a person `per_…@srv_…`
    key_id: str
    #: The label of that key, also when it was revoked, or the person's name; null when it is not known
    key_label: Optional[str]
    #: Who sent it: a person or a key, by the name of that time
    sent_by: CommandResourceSentBy
    #: The text that is sent, trimmed
    command: str
    #: queued and sending may still change; sent, failed, unknown, expired and cancelled are final
    status: CommandStatus
    #: 1 for the next to be sent; null when it does not wait
    position: Optional[int]
    #: Epoch milliseconds
    queued_at: int
    #: When it was handed to the game API, in epoch milliseconds; null while it waits
    sent_at: Optional[int]
    #: When its last state was reached, in epoch milliseconds; null before
    finished_at: Optional[int]
    #: When the game's own command log showed it, in epoch milliseconds; null proves nothing
    confirmed_at: Optional[int]
    #: The game API's code for a command that failed
    upstream_code: Optional[int]
    #: What the game API said about it
    upstream_message: Optional[str]


class CommandPage(TypedDict):
    items: List[CommandResource]
    #: Send it as `cursor` for the next page; null on the last
    next: Optional[str]


class PlayersPoint(TypedDict):
    #: When it begins, in epoch milliseconds
    at: int
    #: For how much of the time readings vouch, from 0 (nothing is known, the other fields are null) to 1
    known: float
    #: The fewest players
    min: Optional[int]
    #: Players on average over the known time
    avg: Optional[float]
    #: The most players
    max: Optional[int]
    #: The most that waited to join; only for keys with the section Queue
    queue_max: NotRequired[Optional[int]]
    #: The most players with a permission above Normal; only for keys with the section Players
    staff_max: NotRequired[Optional[int]]
    #: Players of each team on average over the time in which readings showed the players, null when none did; only
    #: for keys with the section Players
    teams: NotRequired[Optional[Dict[str, float]]]


class PlayersHistory(TypedDict):
    resolution: Literal["1m", "5m", "1h", "1d"]
    #: Oldest first, without holes
    points: List[PlayersPoint]


class SessionResource(TypedDict):
    #: Name and id, as the game writes them: `Name:id`
    player: str
    #: The id alone
    id: str
    #: When the player came, or was first seen, in epoch milliseconds
    joined_at: int
    #: When the player left, or was last seen, in epoch milliseconds; null while there
    left_at: Optional[int]
    #: How long the player was there, in seconds
    seconds: int
    #: log (the game told it), vanished (absent from two readings in a row without a log entry), gap (nobody was
    #: looking), or null while there
    ended: Optional[Literal["log", "vanished", "gap"]]
    #: Seconds in each team, as far as readings showed it
    teams: Dict[str, int]


class SessionPage(TypedDict):
    items: List[SessionResource]
    #: Send it as `cursor` for the next page; null on the last
    next: Optional[str]


class PlaytimeResource(TypedDict):
    #: Name and id, as the game writes them: `Name:id`
    player: str
    #: The id alone
    id: str
    #: How long the player was there, in seconds
    seconds: int
    #: Sessions that touch the period
    sessions: int


class PlaytimePage(TypedDict):
    items: List[PlaytimeResource]
    #: Send it as `cursor` for the next page; null on the last
    next: Optional[str]


class StaffResourceCommandsByKind(TypedDict):
    """How many of them were of these kinds; the others are in `commands` only."""

    kick: int
    ban: int
    jail: int
    message: int
    teleport: int


class StaffResource(TypedDict):
    #: Name and id, as the game writes them: `Name:id`
    player: str
    #: The id alone
    id: str
    #: How long the player was there, in seconds
    seconds: int
    #: Seconds in each team, as far as readings showed it
    teams: Dict[str, int]
    #: The staff list on which the newest reading has them: Admins, Mods or Helpers
    role: Optional[str]
    #: Commands used in the game
    commands: int
    #: How many of them were of these kinds; the others are in `commands` only
    commands_by_kind: StaffResourceCommandsByKind
    #: Calls for a moderator answered
    modcalls_answered: int
    #: The median of how long callers waited, in seconds: at least and at most, because readings show only that a
    #: call was answered between two of them; null without answers
    median_between: Optional[List[float]]


class StaffPage(TypedDict):
    items: List[StaffResource]
    #: Send it as `cursor` for the next page; null on the last
    next: Optional[str]


class PeaksResource(TypedDict):
    #: The time zone of the table
    tz: str
    #: A row for each day of the week, Monday first, with a value for each hour
    table: List[List[Optional[float]]]


class PresentHistory(TypedDict):
    #: The moment that was asked about, in epoch milliseconds
    at: int
    #: Whether readings tell of that moment; when not, somebody may be missing
    known: bool
    #: Their sessions, the one that began last first
    items: List[SessionResource]


class Who(TypedDict):
    kind: Literal["master", "person", "key", "system"]
    #: Id of the person or key
    id: str
    #: The person's name or the key's label at that time
    name: str


class PlayerResource(TypedDict):
    #: The newest name, and the id: `Name:id`
    player: str
    #: The id alone
    id: str
    #: Newest first
    names: List[str]
    #: When the player was first seen, in epoch milliseconds
    first_seen_at: int
    #: When the player was last seen, in epoch milliseconds
    last_seen_at: int
    #: How long the player was there in all, in seconds
    seconds: int
    #: How often the player came
    sessions: int
    #: Whether the newest reading shows the player
    is_here: bool


class PlayerPage(TypedDict):
    items: List[PlayerResource]
    #: Send it as `cursor` for the next page; null on the last
    next: Optional[str]


class AimedCommand(TypedDict):
    #: When it was used, in epoch milliseconds
    at: int
    command: str
    #: Who used it in the game, as `Name:id`
    by: Optional[str]
    #: Who sent it through Gatehouse; null for a command typed in the game
    sent_by: Optional[Who]
    #: A cursor: send it as `after` to get what follows it
    event_id: str


class NewNote(TypedDict):
    #: must be a text of 1 to 1000 characters, without control characters but line breaks and tabs
    text: str
    #: must be note or warning
    kind: Literal["note", "warning"]


class NoteResource(TypedDict):
    #: Id of the note
    note_id: str
    text: str
    #: must be note or warning
    kind: Literal["note", "warning"]
    by: Who
    #: When it was written, in epoch milliseconds
    at: int


class NotePage(TypedDict):
    items: List[NoteResource]
    #: Send it as `cursor` for the next page; null on the last
    next: Optional[str]


class PlayerRecordModcallsLast(TypedDict):
    #: Id of the call
    id: str
    #: When it was opened, in epoch milliseconds
    opened_at: int
    #: waiting; claimed (somebody is on the way); answered (in the game); left (the caller left a minute ago or
    #: more); expired (an hour old)
    state: Literal["waiting", "claimed", "answered", "left", "expired"]


class PlayerRecordModcalls(TypedDict):
    """Calls for a moderator by the player; only for keys with the section ModCalls."""

    count: int
    #: The newest; null for none
    last: Optional[PlayerRecordModcallsLast]


class PlayerRecord(TypedDict):
    #: The newest name, and the id: `Name:id`
    player: str
    #: The id alone
    id: str
    #: Newest first
    names: List[str]
    #: When the player was first seen, in epoch milliseconds
    first_seen_at: int
    #: When the player was last seen, in epoch milliseconds
    last_seen_at: int
    #: How long the player was there in all, in seconds
    seconds: int
    #: How often the player came
    sessions: int
    #: Whether the newest reading shows the player
    is_here: bool
    #: Seconds in each team, as far as readings showed it
    teams: Dict[str, int]
    #: Only for keys with the section KillLogs
    kills: NotRequired[int]
    #: Only for keys with the section KillLogs
    deaths: NotRequired[int]
    #: The newest that were aimed at the player, newest first; only for keys with the section CommandLogs
    commands: NotRequired[List[AimedCommand]]
    #: Calls for a moderator by the player; only for keys with the section ModCalls
    modcalls: NotRequired[PlayerRecordModcalls]
    #: Newest first; only for those who may write notes
    notes: NotRequired[List[NoteResource]]


class ModCallResource(TypedDict):
    #: Id of the call
    id: str
    #: Name and id, as the game writes them: `Name:id`
    caller: str
    #: When it was opened, by the game's clock, in epoch milliseconds
    opened_at: int
    #: waiting; claimed (somebody is on the way); answered (in the game); left (the caller left a minute ago or
    #: more); expired (an hour old)
    state: Literal["waiting", "claimed", "answered", "left", "expired"]
    #: Whether the newest reading shows the caller
    is_here: bool
    #: Where the caller is; null when that is not known, or not for this key
    position: Optional[Location]
    #: Who answered it in the game, as `Name:id`
    answered_by: Optional[str]
    #: When the answer was seen, in epoch milliseconds
    answered_at: Optional[int]
    #: Who is on the way, or was
    claimed_by: Optional[Who]
    #: Since when, in epoch milliseconds
    claimed_at: Optional[int]


class ModCallPage(TypedDict):
    items: List[ModCallResource]
    #: Send it as `cursor` for the next page; null on the last
    next: Optional[str]


class OwnKeyResource(TypedDict):
    #: Id of the key; of a person the id, `@` and the id of the server
    key_id: str
    label: str
    #: Id of the game server
    server_id: str
    server_name: str
    #: The segment of its paths; null accepts any
    community: Optional[str]
    #: Versions the key may use
    versions: List[Literal["v1", "v2"]]
    #: Sections the key may read
    sections: List[Section]
    #: Commands the key may send; ["*"] is all, [] none
    commands: List[str]
    #: What the key does not get: JoinKey is empty then, Location absent, wherever they appear
    hide: List[Literal["JoinKey", "Location"]]
    #: What the key, or the person whose session it is, may do besides
    may: List[Literal["claim", "notes", "exports", "alerts", "webhooks", "keys", "status", "people"]]
    #: When it ends, in epoch milliseconds; null is never
    expires_at: Optional[int]


class MapImageResource(TypedDict):
    #: What the bytes are
    type: Literal["image/png", "image/jpeg", "image/webp"]
    #: In pixels
    width: int
    #: In pixels
    height: int
    bytes: int
    #: The game's X at the left of the picture's edge, in units of the game
    left: int
    #: The game's Z at the top of the picture's edge, in units of the game
    top: int
    #: The game's X at the right of the picture's edge, in units of the game
    right: int
    #: The game's Z at the bottom of the picture's edge, in units of the game
    bottom: int
    #: When it was set, in epoch milliseconds
    set_at: int
    #: The `ETag` of the picture; it changes with the bytes
    etag: str


class GameMapResourceStreets(TypedDict):
    #: As the game writes it; untrusted text
    name: str
    #: One entry for each cell of the grid in which the name was seen: the mean X and Z of the positions there, and
    #: how many there were
    cells: List[List[int]]


class GameMapResourcePostalCodes(TypedDict):
    #: As the game writes it; untrusted text
    name: str
    #: One entry for each cell of the grid in which the name was seen: the mean X and Z of the positions there, and
    #: how many there were
    cells: List[List[int]]


class GameMapResource(TypedDict):
    #: The side of a cell of the grid, in units of the game
    cell_size: int
    #: Most seen first
    streets: List[GameMapResourceStreets]
    #: Most seen first
    postal_codes: List[GameMapResourcePostalCodes]
    #: The picture that the operator has set; null when there is none
    image: Optional[MapImageResource]


class ServerSettings(TypedDict):
    #: Server name
    Name: str
    #: Id of the server's owner: an integer that may exceed 2^53
    OwnerId: int
    #: Ids of the co-owners, each an integer that may exceed 2^53
    CoOwnerIds: List[int]
    #: How many can play
    MaxPlayers: int
    #: Key to join the server with
    JoinKey: str
    #: What an account must have verified: Disabled, Email, Phone, ID, or newer
    AccVerifiedReq: str
    #: Whether teams are kept in balance
    TeamBalance: bool


class ServerInfo(ServerBase):
    Players: NotRequired[List[Player]]
    Staff: NotRequired[Staff]
    JoinLogs: NotRequired[List[JoinLog]]
    #: Ids of the players who wait to join, each an integer that may exceed 2^53
    Queue: NotRequired[List[int]]
    KillLogs: NotRequired[List[KillLog]]
    CommandLogs: NotRequired[List[CommandLog]]
    ModCalls: NotRequired[List[ModCall]]
    EmergencyCalls: NotRequired[List[EmergencyCall]]
    Vehicles: NotRequired[List[Vehicle]]


class EventFields(TypedDict):
    #: Its cursor: unique, opaque, valid for every key of the server
    id: str
    #: When it happened; the game tells whole seconds, and where it tells nothing this is `seen_at`, in epoch
    #: milliseconds
    at: int
    #: When Gatehouse learned of it, in epoch milliseconds
    seen_at: int
    #: log: one of the four log lists; diff: two readings compared; webhook: told by the game; gateway: told by
    #: Gatehouse itself
    source: EventSource
    #: Whether it was there before the server's first reading; nothing to react to
    backfill: bool
    meta: NotRequired[EventMeta]


class PlayerJoinedEvent(EventFields):
    type: Literal["player.joined"]
    data: JoinLog


class PlayerLeftEvent(EventFields):
    type: Literal["player.left"]
    data: JoinLog


class PlayerKilledEvent(EventFields):
    type: Literal["player.killed"]
    data: KillLog


class CommandUsedEvent(EventFields):
    type: Literal["command.used"]
    data: CommandLog


class ModcallOpenedEvent(EventFields):
    type: Literal["modcall.opened"]
    data: ModCall


class ModcallAnsweredEvent(EventFields):
    type: Literal["modcall.answered"]
    data: ModCall


class CallOpenedEvent(EventFields):
    type: Literal["call.opened"]
    data: EmergencyCall


class CallChangedEvent(EventFields):
    type: Literal["call.changed"]
    data: EmergencyCall


class CallClosedEvent(EventFields):
    type: Literal["call.closed"]
    data: EmergencyCall


class CustomCommandEvent(EventFields):
    type: Literal["custom.command"]
    data: CustomCommand


class CustomUnknownEvent(EventFields):
    type: Literal["custom.unknown"]
    data: Dict[str, Any]


class PlayerChangedEvent(EventFields):
    type: Literal["player.changed"]
    data: Player


class VehicleSpawnedEvent(EventFields):
    type: Literal["vehicle.spawned"]
    data: Vehicle


class VehicleRemovedEvent(EventFields):
    type: Literal["vehicle.removed"]
    data: Vehicle


class StaffAddedEvent(EventFields):
    type: Literal["staff.added"]
    data: StaffMember


class StaffRemovedEvent(EventFields):
    type: Literal["staff.removed"]
    data: StaffMember


class QueueChangedEvent(EventFields):
    type: Literal["queue.changed"]
    data: Dict[str, List[int]]


class ServerChangedEvent(EventFields):
    type: Literal["server.changed"]
    data: ServerSettings


class ServerOnlineEvent(EventFields):
    type: Literal["server.online"]
    data: ServerStateData


class ServerOfflineEvent(EventFields):
    type: Literal["server.offline"]
    data: ServerStateData


class ServerUnreachableEvent(EventFields):
    type: Literal["server.unreachable"]
    data: ServerStateData


class AlertRaisedEvent(EventFields):
    type: Literal["alert.raised"]
    data: Alert


class AlertClearedEvent(EventFields):
    type: Literal["alert.cleared"]
    data: Alert


class GapEvent(EventFields):
    type: Literal["gap"]
    data: Gap


class ModcallClaimedEvent(EventFields):
    type: Literal["modcall.claimed"]
    data: ModCall


class ModcallReleasedEvent(EventFields):
    type: Literal["modcall.released"]
    data: ModCall


#: What happened; `type` says what `data` is.
Event = Union[
    PlayerJoinedEvent,
    PlayerLeftEvent,
    PlayerKilledEvent,
    CommandUsedEvent,
    ModcallOpenedEvent,
    ModcallAnsweredEvent,
    CallOpenedEvent,
    CallChangedEvent,
    CallClosedEvent,
    CustomCommandEvent,
    CustomUnknownEvent,
    PlayerChangedEvent,
    VehicleSpawnedEvent,
    VehicleRemovedEvent,
    StaffAddedEvent,
    StaffRemovedEvent,
    QueueChangedEvent,
    ServerChangedEvent,
    ServerOnlineEvent,
    ServerOfflineEvent,
    ServerUnreachableEvent,
    AlertRaisedEvent,
    AlertClearedEvent,
    GapEvent,
    ModcallClaimedEvent,
    ModcallReleasedEvent,
]

# The end of the written types.


class WebhookMessage(TypedDict):
    """`data` is an event, but for the type `webhook.test`."""

    id: str
    type: str
    timestamp: str
    data: Event


_Time = Union[datetime, int, float]
_PlayerId = Union[str, int]
_T = TypeVar("_T")

_SPAM_BLOCKED = 5100
_IN_FLIGHT = 5105
_TOO_MANY_STREAMS = 5109
_OBSOLETE = 5018
_INVALID_SIGNATURE = 5111
_FINAL_STATUSES = frozenset(["sent", "failed", "unknown", "expired", "cancelled"])
#: A longer wait than this is for the caller to decide.
_LIMIT_WAIT_MAX = 60
#: Of `details`, in the text of an error.
_DETAILS_CHARS_MAX = 500
#: Far more than the largest answer.
_BODY_BYTES_MAX = 32 * 1024 * 1024
#: Far more than the largest event.
_MESSAGE_CHARS_MAX = 4 * 1024 * 1024
_DIGITS_MAX = 1_000
#: Waits that are long enough for a restart of Gatehouse. Only for reads, and for commands with an idempotency key.
_RESTART_BACKOFFS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
#: Waits before the next connection of a stream. Each failure in a row uses the next, the last repeats.
_STREAM_BACKOFFS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
#: Waits between two looks at a command that came back too soon.
_POLL_BACKOFFS = (0.25, 0.5, 1.0, 2.0, 5.0)
#: How long Gatehouse waits for the end of a command, at most.
_WAIT_MAX = 25
#: A stream has a heartbeat every 15 s; one that is silent for longer has lost its connection.
_SILENCE_MAX = 45.0
_CONTROL_MESSAGES = frozenset(["hello", "heartbeat", "bye"])
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_LINE_END = re.compile(r"\r\n|\n|\r")
_SERVER = "/v2/game/server"


class LimitState(NamedTuple):
    """What was left of the key's limit when Gatehouse answered. `reset_at` is in epoch milliseconds of its clock."""

    limit: int
    remaining: int
    reset_at: int


class PlayerName(NamedTuple):
    name: str
    id: Optional[str]


class ServerReading(NamedTuple):
    """The state of the server, and how old it was when Gatehouse sent it."""

    info: ServerInfo
    age_seconds: int


class GatehouseError(Exception):
    """What Gatehouse refuses, and when it does not answer. Its text has what Gatehouse said."""

    #: The error code of Gatehouse; 0 when the answer had none, or there was no answer.
    code: int
    #: The HTTP status; 0 when there was no whole answer.
    status: int
    #: Seconds after which asking again makes sense; None when Gatehouse did not say.
    retry_after: Optional[float]
    #: The whole body of the error, as it came.
    body: Dict[str, Any]
    #: Only of a command that may or may not be queued: send it again with this key, and it is queued once.
    idempotency_key: Optional[str]

    def __init__(
        self,
        message: str,
        code: int = 0,
        status: int = 0,
        retry_after: Optional[float] = None,
        body: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.retry_after = retry_after
        self.body = body if body is not None else {}
        self.idempotency_key = None

    @property
    def details(self) -> Optional[Dict[str, Any]]:
        """What is wrong, field by field, where Gatehouse says so."""
        details = self.body.get("details")
        return details if isinstance(details, dict) else None

    @property
    def upstream_code(self) -> Optional[int]:
        """The game API's own code, of a 5019."""
        return _integer(self.body.get("upstream_code"))

    @property
    def upstream_message(self) -> Optional[str]:
        """What the game API said, of a 5019."""
        message = self.body.get("upstream_message")
        return message if isinstance(message, str) else None


def split_player(text: str) -> PlayerName:
    """The parts of `Name:id`; the id is None in a text without one."""
    name, colon, player_id = text.rpartition(":")
    if colon and re.fullmatch(r"[0-9]+", player_id):
        return PlayerName(name, player_id)
    return PlayerName(text, None)


def verify_webhook(
    secret: Union[str, Iterable[str]],
    headers: Mapping[str, str],
    body: Union[bytes, str],
    tolerance: float = 300,
    now: Optional[float] = None,
) -> WebhookMessage:
    """The message of a webhook of the format `standard`; `type` tells what its `data` is.

    Raises GatehouseError with code 5111 and status 401 for a message that is not from Gatehouse, or too old. `secret`:
    `whsec_…`, several while you change it. `body`: as it came, not parsed. The same `id` may come twice: handle it once.
    """
    named = {str(name).lower(): value for name, value in headers.items()}
    message_id, timestamp = named.get("webhook-id", ""), named.get("webhook-timestamp", "")
    signatures = [text[3:] for text in named.get("webhook-signature", "")[:2_000].split(" ") if text[:3] == "v1,"]
    keys = [_decode_secret(each) for each in ([secret] if isinstance(secret, str) else secret)]
    if isinstance(body, str):
        body = body.encode()
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError("body must be the body as it came, not parsed")
    if not message_id or len(message_id) > 2_000 or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise _refuse_webhook("a header is missing or damaged")
    if not abs((time.time() if now is None else now) - int(timestamp)) <= tolerance:
        raise _refuse_webhook("it is too old or too new")
    # aiohttp gives bytes that are no UTF-8 as surrogates.
    signed = f"{message_id}.{timestamp}.".encode(errors="surrogatepass") + bytes(body)
    expected = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    given = [text.encode(errors="surrogatepass") for text in signatures[:10]]
    if not any([hmac.compare_digest(one, other) for one in expected for other in given]):
        raise _refuse_webhook("no signature fits")
    message = _parse_json(bytes(body))
    if not isinstance(message, dict):
        raise _refuse_webhook("the body is no message")
    return cast(WebhookMessage, {**message, "id": message_id})


def _decode_secret(text: str) -> bytes:
    try:
        key = base64.b64decode(re.sub(r"^whsec_", "", text), validate=True)
    except (TypeError, ValueError, binascii.Error):
        key = b""
    if not key:
        # The message has no part of it.
        raise ValueError("secret must be the secret of a webhook, whsec_…")
    return key


def _refuse_webhook(reason: str) -> GatehouseError:
    return GatehouseError(f"invalid_signature: {reason}", code=_INVALID_SIGNATURE, status=401)


class pages:
    """The pages of a list, each a request, until the last: `for page in pages(gatehouse.players.search, query="a")`.

    With a method of AsyncGatehouse: `async for`. Pages of `list_events` go on from its `after` or `before`.
    """

    def __init__(self, read: Callable[..., Any], **options: Any) -> None:
        self._read = read
        self._options = options

    def __iter__(self) -> Iterator[Any]:
        options: Optional[Dict[str, Any]] = self._options
        while options is not None:
            page = self._read(**options)
            yield page
            options = _after_page(options, page)

    async def __aiter__(self) -> AsyncIterator[Any]:
        options: Optional[Dict[str, Any]] = self._options
        while options is not None:
            page = await self._read(**options)
            yield page
            options = _after_page(options, page)


def _after_page(options: Dict[str, Any], page: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
    """What to ask for next. None after the last page, and after one that names itself as the next."""
    name, cursor = "cursor", page["next"]
    if "has_more" in page:
        name, cursor = ("before", page["previous"]) if "previous" in page else ("after", page["next"])
        if not page["has_more"]:
            return None
    return None if cursor is None or cursor == options.get(name) else {**options, name: cursor}


# The core, which does no I/O: every call is a generator that yields what is to be done and is sent what came of it.


class _Send(NamedTuple):
    """A request and its whole answer: a _Reply."""

    method: str
    path: str
    headers: Dict[str, str]
    body: Optional[bytes]
    timeout: float


class _Open(NamedTuple):
    """A request for a stream: a _Reply, whose body is empty when the stream is open."""

    path: str
    headers: Dict[str, str]
    timeout: float


class _Read(NamedTuple):
    """The next bytes of the open stream; none at its end."""

    timeout: float


class _Wait(NamedTuple):
    seconds: float


class _Hand(NamedTuple):
    """An event for the caller."""

    event: Any


class _Reply(NamedTuple):
    status: int
    #: With lower-case names.
    headers: Mapping[str, str]
    body: bytes


class _Lost(Exception):
    """No answer came, or not all of it."""

    def __init__(self, reason: object, is_late: bool = False) -> None:
        super().__init__(str(reason) or type(reason).__name__)
        self.is_late = is_late


_Steps = Generator[Any, Any, _T]


class _Core:
    def __init__(self, base_url: str, token: str, timeout: float) -> None:
        self.base = _parse_base_url(base_url)
        if not isinstance(token, str) or not _VISIBLE.fullmatch(token):
            # The message has no part of it.
            raise ValueError("token must be an API key")
        self._token = token
        self._timeout = _check_timeout(timeout)
        self.limit: Optional[LimitState] = None
        self.clock: Callable[[], float] = time.monotonic
        self.random: Callable[[], float] = random.random

    def read(self, path: str, query: Optional[Mapping[str, Any]] = None, **how: Any) -> _Steps[Any]:
        reply, value = yield from self.call("GET", path + _write_query(query or {}), **how)
        return value

    def call(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
        extra: float = 0,
        backoffs: Optional[Sequence[float]] = None,
        on_failure: Optional[Callable[[GatehouseError], None]] = None,
    ) -> _Steps[Tuple[_Reply, Any]]:
        """Waits for a limit once. Tries again after the backoffs; those of reads are enough for a restart."""
        seconds = self._timeout if timeout is None else _check_timeout(timeout)
        content = None if body is None else json.dumps(body).encode()
        step = _Send(method, path, self._headers(content, headers), content, seconds + extra)
        if backoffs is None:
            backoffs = _RESTART_BACKOFFS if method == "GET" else ()
        left = iter(backoffs)
        has_waited = False
        while True:
            try:
                reply = yield from self._ask(step)
                return reply, self._read_value(reply)
            except GatehouseError as error:
                if on_failure:
                    on_failure(error)
                wait = None if has_waited else _limit_wait(error)
                if wait is not None:
                    has_waited = True
                else:
                    # Whoever reads wants an answer in time: a deadline that passed is not begun anew.
                    is_over = method == "GET" and isinstance(error.__cause__, _Lost) and error.__cause__.is_late
                    can_repeat = not is_over and (_is_outage(error) or _is_in_flight(error))
                    backoff = next(left, None) if can_repeat else None
                    if backoff is None:
                        raise
                    wait = _choose_backoff(error, backoff)
            yield _Wait(wait)

    def server(self, include: Iterable[str], timeout: Optional[float]) -> _Steps[ServerReading]:
        sections = [include] if isinstance(include, str) else include
        query = {section: True for section in sections}
        reply, info = yield from self.call("GET", _SERVER + _write_query(query), timeout=timeout)
        return ServerReading(info, int(_integer_text(reply.headers.get("age")) or 0))

    def section(self, name: str, timeout: Optional[float]) -> _Steps[Any]:
        reading = yield from self.server([name], timeout)
        return cast(Dict[str, Any], reading.info)[name]

    def send_command(self, text: str, key: Optional[str], timeout: Optional[float]) -> _Steps[str]:
        idempotency_key = secrets.token_hex(16) if key is None else key
        if not _VISIBLE.fullmatch(idempotency_key) or len(idempotency_key) > 255:
            raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
        # A try that was lost may have queued it, whatever the next one is told.
        failures: List[GatehouseError] = []
        try:
            _, receipt = yield from self.call(
                "POST",
                f"{_SERVER}/command",
                body={"command": text},
                headers={"Idempotency-Key": idempotency_key},
                timeout=timeout,
                backoffs=_RESTART_BACKOFFS,
                on_failure=failures.append,
            )
        except GatehouseError as error:
            if any(_is_open(failure) for failure in failures):
                error.idempotency_key = idempotency_key
            raise
        return str(receipt["command_id"])

    def settle(self, command_id: str, timeout: float) -> _Steps[CommandResource]:
        deadline = self.clock() + timeout
        early = 0
        is_wait_refused = False
        while True:
            asked_at = self.clock()
            wait = 0 if is_wait_refused else max(0, min(_WAIT_MAX, math.floor(deadline - asked_at)))
            pause = _POLL_BACKOFFS[min(early, len(_POLL_BACKOFFS) - 1)]
            early += 1
            last: Optional[GatehouseError] = None
            try:
                query = {"wait": wait} if wait else {}
                command = yield from self.read(_command_path(command_id), query, extra=wait, backoffs=())
                if command.get("status") in _FINAL_STATUSES:
                    return cast(CommandResource, command)
                is_wait_refused = False
                # It has waited as long as it was asked to.
                if wait and self.clock() - asked_at >= wait:
                    pause = early = 0
            except GatehouseError as error:
                is_wait_refused = error.code == _TOO_MANY_STREAMS
                if not is_wait_refused and not _is_outage(error):
                    raise
                pause = _choose_backoff(error, pause)
                last = error
            left = deadline - self.clock()
            if left <= 0:
                raise GatehouseError(f"the command {command_id} had no end within {timeout} s") from last
            if pause:
                yield _Wait(min(pause, left))

    def follow(
        self,
        types: Optional[Iterable[str]],
        position: _Position,
        on_outage: Optional[Callable[[GatehouseError, float], None]],
    ) -> _Steps[None]:
        failures = 0
        while True:
            failure: Optional[GatehouseError] = None
            try:
                query = {"after": position.cursor, "types": _join(types)}
                headers = {**self._headers(None, None), "Accept": "text/event-stream"}
                step = _Open(f"{_SERVER}/events/stream{_write_query(query)}", headers, self._timeout)
                reply = yield from self._ask(step)
                if reply.status != 200 or not reply.headers.get("content-type", "").startswith("text/event-stream"):
                    raise GatehouseError("this is no stream of Gatehouse", status=reply.status)
                parser = _SseParser()
                while True:
                    chunk = yield from self._ask(_Read(_SILENCE_MAX))
                    if not chunk:
                        break
                    for message_id, name, data in parser.push(chunk):
                        if message_id:
                            position.cursor = message_id
                        if name not in _CONTROL_MESSAGES:
                            yield _Hand(_parse_event(data))
                        # Not at once after the beginning, where a connection may always end.
                        if name not in ("hello", "bye"):
                            failures = 0
            except GatehouseError as error:
                if not _is_outage(error) and _limit_wait(error) is None:
                    raise
                failure = error
            backoff = _STREAM_BACKOFFS[min(failures, len(_STREAM_BACKOFFS) - 1)]
            failures += 1
            # Spread, because a restart cuts many readers at the same moment.
            wait = _choose_backoff(failure, backoff * (0.75 + self.random() / 2))
            if failure and on_outage:
                on_outage(failure, wait)
            yield _Wait(wait)

    def _ask(self, step: Union[_Send, _Open, _Read]) -> _Steps[Any]:
        """A failure of the network and an error of Gatehouse become a GatehouseError."""
        try:
            answer = yield step
        except _Lost as lost:
            raise GatehouseError(f"Gatehouse did not answer: {lost}") from lost
        if isinstance(answer, _Reply):
            self.limit = _read_limit(answer.headers) or self.limit
            if 300 <= answer.status < 400:
                text = "the address redirects; use the address that it redirects to as base_url"
                raise GatehouseError(text, status=answer.status)
            if not 200 <= answer.status < 300:
                raise _to_error(answer)
        return answer

    def _read_value(self, reply: _Reply) -> Dict[str, Any]:
        value = _parse_json(reply.body)
        if not isinstance(value, dict):
            raise GatehouseError("this is no answer of Gatehouse: it is not JSON", status=reply.status)
        return value

    def _headers(self, content: Optional[bytes], more: Optional[Mapping[str, str]]) -> Dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"gatehouse-client-python/{__version__}", **(more or {})}
        if content is not None:
            headers["Content-Type"] = "application/json"
        return {**headers, "Authorization": f"Bearer {self._token}"}


class _Position:
    """Where a stream has got to."""

    def __init__(self, cursor: Optional[str]) -> None:
        self.cursor = cursor


class _SseParser:
    """Parses Server-Sent Events from pieces, as the HTML standard says."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: List[str] = []
        self._line_length = 0
        self._data: List[str] = []
        self._data_length = 0
        self._event = ""
        self._id = ""
        #: Whether the last piece ended with a CR, which an LF may follow.
        self._ended_with_cr = False

    def push(self, chunk: bytes) -> List[Tuple[str, str, str]]:
        """The id, event and data of the messages that the piece completes."""
        piece = self._decoder.decode(chunk)
        text = piece[1:] if self._ended_with_cr and piece.startswith("\n") else piece
        if piece:
            self._ended_with_cr = piece.endswith("\r")
        self._pieces.append(text)
        self._line_length += len(text)
        messages = []
        if "\n" in text or "\r" in text:
            *lines, rest = _LINE_END.split("".join(self._pieces))
            self._pieces = [rest]
            self._line_length = len(rest)
            for line in lines:
                if line:
                    self._take_line(line)
                    continue
                if self._data:
                    messages.append((self._id, self._event or "message", "\n".join(self._data)))
                self._event, self._data, self._data_length = "", [], 0
        if self._line_length + self._data_length > _MESSAGE_CHARS_MAX:
            raise _stream_fault()
        return messages

    def _take_line(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "data":
            self._data.append(value)
            self._data_length += len(value) + 1


def _parse_event(data: str) -> Any:
    event = _parse_json(data.encode())
    if not isinstance(event, dict):
        raise _stream_fault()
    return event


def _stream_fault() -> GatehouseError:
    """Raised to the caller: another connection would bring the same."""
    return GatehouseError("this is no stream of Gatehouse", status=200)


def _parse_json(content: bytes) -> Any:
    """None for what is not JSON. Integers are exact, also those written as 1e30."""
    try:
        return json.loads(content.decode(), parse_float=_parse_float, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _parse_float(text: str) -> Union[int, float]:
    value = float(text)
    if abs(value) < 2**53 or not value.is_integer() or len(text) > _DIGITS_MAX:
        return value
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else value


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _to_error(reply: _Reply) -> GatehouseError:
    parsed = _parse_json(reply.body)
    body = parsed if isinstance(parsed, dict) else {}
    code = _integer(body.get("code")) or 0
    message = body.get("message")
    words = message if isinstance(message, str) else "this is no answer of Gatehouse"
    said = body.get("upstream_message")
    reasons = [said if isinstance(said, str) else "", _write_details(body.get("details"))]
    why = "; ".join(reason for reason in reasons if reason)
    codes = f"{code}, HTTP {reply.status}" if code else f"HTTP {reply.status}"
    retry_after = body.get("retry_after")
    if isinstance(retry_after, bool) or not isinstance(retry_after, (int, float)):
        retry_after = _integer_text(reply.headers.get("retry-after"))
    text = f"{words}{': ' if why else ''}{why} ({codes})"
    return GatehouseError(text, code=code, status=reply.status, retry_after=retry_after, body=body)


def _write_details(details: object) -> str:
    if not isinstance(details, dict):
        return ""
    return ", ".join(f"{field}: {_write_detail(value)}" for field, value in details.items())[:_DETAILS_CHARS_MAX]


def _write_detail(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _limit_wait(error: GatehouseError) -> Optional[float]:
    """The seconds to wait after a 429; None for what is not waited for, such as a block."""
    if error.status != 429 or error.code == _SPAM_BLOCKED or error.retry_after is None:
        return None
    return error.retry_after if 0 <= error.retry_after <= _LIMIT_WAIT_MAX else None


def _is_outage(error: GatehouseError) -> bool:
    """Whether the same request may succeed soon: no answer came, or Gatehouse or a proxy before it is not ready."""
    return error.status == 0 or (error.status >= 500 and error.status != 501 and error.code != _OBSOLETE)


def _is_in_flight(error: GatehouseError) -> bool:
    """Whether an earlier request with the same idempotency key is not answered yet."""
    return error.code == _IN_FLIGHT and error.status == 409


def _is_open(error: GatehouseError) -> bool:
    """Whether Gatehouse may have acted, although it did not say so."""
    return _is_outage(error) or _is_in_flight(error) or error.status < 300


def _choose_backoff(error: Optional[GatehouseError], backoff: float) -> float:
    asked = error.retry_after if error and error.retry_after is not None else 0
    return max(backoff, min(asked, _LIMIT_WAIT_MAX))


def _read_limit(headers: Mapping[str, str]) -> Optional[LimitState]:
    names = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
    limit, remaining, reset = (_integer_text(headers.get(name)) for name in names)
    if limit is None or remaining is None or reset is None:
        return None
    return LimitState(limit, remaining, reset * 1000)


def _integer(value: object) -> Optional[int]:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _integer_text(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,12}", text) else None


def _join(texts: Optional[Iterable[str]]) -> Optional[str]:
    return texts if texts is None or isinstance(texts, str) else ",".join(texts)


def _listed(texts: Optional[Iterable[str]]) -> Union[None, str, List[str]]:
    """An iterator may be read once only, a stream asks for its types with each connection."""
    return texts if texts is None or isinstance(texts, str) else list(texts)


def _to_ms(moment: Optional[_Time]) -> Optional[int]:
    if moment is None:
        return None
    return round(moment.timestamp() * 1000) if isinstance(moment, datetime) else int(moment)


def _write_query(query: Mapping[str, Any]) -> str:
    """What is None is left out."""
    texts = {True: "true", False: "false"}
    given = {name: value for name, value in query.items() if value is not None}
    pairs = [(name, texts[value] if isinstance(value, bool) else str(value)) for name, value in given.items()]
    return f"?{urlencode(pairs)}" if pairs else ""


def _command_path(command_id: str) -> str:
    return f"{_SERVER}/command/{quote(command_id, safe='')}"


def _claim_path(call_id: str) -> str:
    return f"{_SERVER}/modcalls/{quote(call_id, safe='')}/claim"


def _player_path(player_id: _PlayerId) -> str:
    return f"{_SERVER}/players/{quote(str(player_id), safe='')}"


def _check_timeout(seconds: float) -> float:
    if not 0 < seconds < 1e7:
        raise ValueError("timeout must be a positive number of seconds")
    return seconds


class _Base(NamedTuple):
    is_tls: bool
    host: str
    port: int
    #: As in a Host header.
    authority: str
    path: str


def _parse_base_url(text: str) -> _Base:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except (ValueError, AttributeError, TypeError):
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ValueError("base_url must be an address such as https://gatehouse.example")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("base_url must have no user name, no password, no query and no fragment")
    is_tls = parts.scheme == "https"
    return _Base(is_tls, host, port or (443 if is_tls else 80), parts.netloc, parts.path.rstrip("/"))


# The blocking client.


class _TimedSocket(io.RawIOBase):
    """Reads a socket until a deadline, which a server that sends byte after byte does not move."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        super().__init__()
        self._sock = sock
        self.deadline = deadline
        #: Whether somebody has tried to read more than there was.
        self.is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("the answer took too long")
        self._sock.settimeout(left)
        count = self._sock.recv_into(buffer)
        self.is_over = count == 0
        return count

    def makefile(self, _mode: str) -> io.BufferedReader:
        """As HTTPResponse asks a socket for it."""
        return io.BufferedReader(self)


class _Exchange:
    """One request on a connection of its own."""

    def __init__(self, base: _Base, step: Union[_Send, _Open]) -> None:
        method, body = (step.method, step.body) if isinstance(step, _Send) else ("GET", None)
        make = http.client.HTTPSConnection if base.is_tls else http.client.HTTPConnection
        deadline = time.monotonic() + step.timeout
        self._connection = make(base.host, base.port, timeout=step.timeout)
        self._opened: List[Any] = [self._connection]
        try:
            self._connection.request(method, base.path + step.path, body, {**step.headers, "Connection": "close"})
            self._timed = _TimedSocket(cast(socket.socket, self._connection.sock), deadline)
            self._response = http.client.HTTPResponse(cast(socket.socket, self._timed), method=method)
            self._opened.append(self._response)
            self._response.begin()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise _lose(error) from error
        # http.client takes headers that were cut off for all of them.
        if self._timed.is_over:
            self.close()
            raise _Lost("the answer was cut off")

    def read_reply(self) -> _Reply:
        parts: List[bytes] = []
        size = 0
        try:
            while True:
                part = self._response.read(65_536)
                if not part:
                    break
                parts.append(part)
                size += len(part)
                if size > _BODY_BYTES_MAX:
                    raise GatehouseError("the answer is too large", status=self._response.status)
            # Of a connection that was cut, http.client gives what came.
            if self._response.length:
                raise _Lost("the answer was cut off")
        except (OSError, http.client.HTTPException) as error:
            raise _lose(error) from error
        return self.head(b"".join(parts))

    def head(self, body: bytes = b"") -> _Reply:
        headers = {name.lower(): value for name, value in self._response.getheaders()}
        return _Reply(self._response.status, headers, body)

    def read(self, timeout: float) -> bytes:
        self._timed.deadline = time.monotonic() + timeout
        try:
            return self._response.read1(65_536)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise _lose(error) from error

    def interrupt(self) -> None:
        """Ends a read of another thread."""
        sock = self._connection.sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        # The response first: Python 3.13 complains about one that outlives its connection.
        for each in reversed(self._opened):
            each.close()


def _lose(error: Exception) -> _Lost:
    return _Lost(error, isinstance(error, socket.timeout))


class _Wire:
    def __init__(self, base: _Base) -> None:
        self._base = base

    def send(self, step: _Send) -> _Reply:
        exchange = _Exchange(self._base, step)
        try:
            return exchange.read_reply()
        finally:
            exchange.close()

    def open(self, step: _Open) -> Tuple[_Reply, Optional[_Exchange]]:
        exchange = _Exchange(self._base, step)
        try:
            if exchange.head().status == 200:
                return exchange.head(), exchange
            reply = exchange.read_reply()
        except BaseException:
            exchange.close()
            raise
        exchange.close()
        return reply, None

    def wait(self, seconds: float, stop: Optional[threading.Event] = None) -> None:
        if stop:
            stop.wait(seconds)
        else:
            time.sleep(seconds)

    def run(self, steps: _Steps[_T]) -> _T:
        walk = _Walk(steps)
        while walk.go_on():
            try:
                if isinstance(walk.step, _Send):
                    walk.answer(self.send(walk.step))
                else:
                    self.wait(walk.step.seconds)
                    walk.answer(None)
            except _Lost as lost:
                walk.fail(lost)
        return cast(_T, walk.value)


class _Walk:
    """Goes from step to step. A step whose work was interrupted is done again; its outcome is taken once."""

    def __init__(self, steps: _Steps[Any]) -> None:
        self._steps = steps
        self._outcome: Union[None, Tuple[Any], _Lost] = (None,)
        self.step: Any = None
        self.value: Any = None
        self._is_over = False

    def answer(self, value: Any) -> None:
        self._outcome = (value,)

    def fail(self, lost: _Lost) -> None:
        self._outcome = lost

    def go_on(self) -> bool:
        """False at the end, whose result is then in `value`."""
        outcome, self._outcome = self._outcome, None
        if self._is_over or outcome is None:
            return not self._is_over
        try:
            self.step = self._steps.throw(outcome) if isinstance(outcome, _Lost) else self._steps.send(outcome[0])
        except StopIteration as end:
            self.value, self._is_over = end.value, True
        except BaseException:
            self._is_over = True
            raise
        return not self._is_over

    def end(self) -> None:
        self._is_over = True


class EventStream:
    """Events in order, each once, over restarts and lost connections. Raises what asking again does not change.

    `cursor`: keep it once you have handled an event, and hand it in as `after` at the next start. `close()` ends it, from
    another thread too.
    """

    def __init__(self, wire: _Wire, steps: _Steps[None], position: _Position) -> None:
        self._wire = wire
        self._walk = _Walk(steps)
        self._position = position
        self._open: Optional[_Exchange] = None
        self._stop = threading.Event()

    @property
    def cursor(self) -> Optional[str]:
        return self._position.cursor

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> Event:
        try:
            while not self._stop.is_set() and self._walk.go_on():
                step = self._walk.step
                try:
                    if isinstance(step, _Hand):
                        self._walk.answer(None)
                        return cast("Event", step.event)
                    self._walk.answer(self._do(step))
                except _Lost as lost:
                    self._walk.fail(lost)
        except BaseException:
            self._hang_up()
            raise
        self._hang_up()
        raise StopIteration

    def _do(self, step: Any) -> Any:
        if isinstance(step, _Read):
            return self._open.read(step.timeout) if self._open else b""
        self._hang_up()
        if isinstance(step, _Wait):
            return self._wire.wait(step.seconds, self._stop)
        reply, self._open = self._wire.open(step)
        return reply

    def _hang_up(self) -> None:
        if self._open:
            self._open.close()
        self._open = None

    def close(self) -> None:
        self._stop.set()
        # The thread that reads may drop it meanwhile.
        opened = self._open
        if opened:
            opened.interrupt()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._hang_up()

    def __del__(self) -> None:
        self._hang_up()


class Server:
    """Reads the state of the game server."""

    def __init__(self, core: _Core, wire: _Wire) -> None:
        self._core = core
        self._wire = wire

    def get(self, include: Iterable[Section] = (), timeout: Optional[float] = None) -> ServerInfo:
        """The eight fields that every server has, and the included sections: one request, however many."""
        return (self._wire.run(self._core.server(include, timeout))).info

    def read(self, include: Iterable[Section] = (), timeout: Optional[float] = None) -> ServerReading:
        """Like `get`, with the age of what it says."""
        return self._wire.run(self._core.server(include, timeout))

    def players(self, timeout: Optional[float] = None) -> List[Player]:
        return self._wire.run(self._core.section("Players", timeout))

    def staff(self, timeout: Optional[float] = None) -> Staff:
        return self._wire.run(self._core.section("Staff", timeout))

    def join_logs(self, timeout: Optional[float] = None) -> List[JoinLog]:
        return self._wire.run(self._core.section("JoinLogs", timeout))

    def queue(self, timeout: Optional[float] = None) -> List[int]:
        """The ids of who waits to join, in order."""
        return self._wire.run(self._core.section("Queue", timeout))

    def kill_logs(self, timeout: Optional[float] = None) -> List[KillLog]:
        return self._wire.run(self._core.section("KillLogs", timeout))

    def command_logs(self, timeout: Optional[float] = None) -> List[CommandLog]:
        return self._wire.run(self._core.section("CommandLogs", timeout))

    def mod_calls(self, timeout: Optional[float] = None) -> List[ModCall]:
        return self._wire.run(self._core.section("ModCalls", timeout))

    def emergency_calls(self, timeout: Optional[float] = None) -> List[EmergencyCall]:
        return self._wire.run(self._core.section("EmergencyCalls", timeout))

    def vehicles(self, timeout: Optional[float] = None) -> List[Vehicle]:
        return self._wire.run(self._core.section("Vehicles", timeout))

    def map(self, timeout: Optional[float] = None) -> GameMapResource:
        """Where street names and postal codes were seen."""
        return self._wire.run(self._core.read(f"{_SERVER}/map", timeout=timeout))


class Command:
    """A command that Gatehouse has accepted."""

    def __init__(self, commands: Commands, command_id: str) -> None:
        self._commands = commands
        self.id = command_id

    def status(self, timeout: Optional[float] = None) -> CommandResource:
        return self._commands.get(self.id, timeout)

    def settled(self, timeout: float = 900) -> CommandResource:
        """Waits for its final status, over restarts too. Raises GatehouseError when the time is up.

        `sent`: the game API took it. `unknown`: nobody can tell, and it is never sent again by itself.
        """
        return self._commands.wait_for_end(self.id, timeout)

    def cancel(self, timeout: Optional[float] = None) -> CommandResource:
        """Takes it out of the queue. Raises GatehouseError with status 409 when it no longer waits."""
        return self._commands.cancel(self.id, timeout)


class Commands:
    """Sends commands, each at most once, and follows them to their end."""

    def __init__(self, core: _Core, wire: _Wire) -> None:
        self._core = core
        self._wire = wire

    def send(
        self, text: str, idempotency_key: Optional[str] = None, timeout: Optional[float] = None
    ) -> Command:
        """Queues a command. It is tried again while Gatehouse cannot be reached, with the same key: it is queued once.

        An error that leaves open whether it is queued has its `idempotency_key`.
        """
        return Command(self, self._wire.run(self._core.send_command(text, idempotency_key, timeout)))

    def handle(self, command_id: str) -> Command:
        """The handle of a command that was sent earlier."""
        return Command(self, command_id)

    def get(self, command_id: str, timeout: Optional[float] = None) -> CommandResource:
        return self._wire.run(self._core.read(_command_path(command_id), timeout=timeout))

    def list(
        self,
        status: Optional[CommandStatus] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> CommandPage:
        """Newest first."""
        query = {"status": status, "limit": limit, "cursor": cursor}
        return self._wire.run(self._core.read(f"{_SERVER}/command", query, timeout=timeout))

    def cancel(self, command_id: str, timeout: Optional[float] = None) -> CommandResource:
        return (self._wire.run(self._core.call("DELETE", _command_path(command_id), timeout=timeout)))[1]

    def wait_for_end(self, command_id: str, timeout: float = 900) -> CommandResource:
        return self._wire.run(self._core.settle(command_id, timeout))


class Players:
    def __init__(self, core: _Core, wire: _Wire) -> None:
        self._core = core
        self._wire = wire

    def search(
        self,
        query: Optional[str] = None,
        here: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PlayerPage:
        """Everybody who was ever seen, latest first. `query`: part of a name, or the beginning of the id."""
        asked = {"query": query, "here": here, "limit": limit, "cursor": cursor}
        return self._wire.run(self._core.read(f"{_SERVER}/players", asked, timeout=timeout))

    def get(self, player_id: _PlayerId, timeout: Optional[float] = None) -> PlayerRecord:
        """What is known about a player. Raises GatehouseError 5020 for one who was never seen."""
        return self._wire.run(self._core.read(_player_path(player_id), timeout=timeout))


class ModCalls:
    def __init__(self, core: _Core, wire: _Wire) -> None:
        self._core = core
        self._wire = wire

    def list(
        self,
        state: Optional[Iterable[str]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ModCallPage:
        """Callers who are on the server first, then the oldest; those that wait or are claimed by default."""
        query = {"state": _join(state), "limit": limit, "cursor": cursor}
        return self._wire.run(self._core.read(f"{_SERVER}/modcalls", query, timeout=timeout))

    def claim(self, call_id: str, take: bool = False, timeout: Optional[float] = None) -> ModCallResource:
        """Says "I am on it". Raises GatehouseError with status 409 when somebody else is, unless `take`."""
        body = {"take": True} if take else None
        return (self._wire.run(self._core.call("POST", _claim_path(call_id), body, timeout=timeout)))[1]

    def release(self, call_id: str, timeout: Optional[float] = None) -> ModCallResource:
        """It waits again."""
        return (self._wire.run(self._core.call("DELETE", _claim_path(call_id), timeout=timeout)))[1]


class History:
    """Questions about the past; the last 24 hours by default. A time is a datetime, or epoch milliseconds."""

    def __init__(self, core: _Core, wire: _Wire) -> None:
        self._core = core
        self._wire = wire

    def players(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        resolution: Optional[Literal["1m", "5m", "1h", "1d"]] = None,
        timeout: Optional[float] = None,
    ) -> PlayersHistory:
        """How many played, over time. A point without readings has None, not zero."""
        return self._ask("players", timeout, from_, to, resolution=resolution)

    def sessions(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        player: Optional[_PlayerId] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> SessionPage:
        """Who was there, from when to when; of one player with `player`, an id."""
        return self._ask("sessions", timeout, from_, to, player=player, limit=limit, cursor=cursor)

    def playtime(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PlaytimePage:
        """How long each player was there, most first."""
        return self._ask("playtime", timeout, from_, to, limit=limit, cursor=cursor)

    def staff(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> StaffPage:
        """What the staff did."""
        return self._ask("staff", timeout, from_, to, limit=limit, cursor=cursor)

    def peaks(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        tz: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PeaksResource:
        """Players on average for each hour of the week; `tz` such as `Europe/Berlin`, UTC by default."""
        return self._ask("peaks", timeout, from_, to, tz=tz)

    def present(self, at: _Time, timeout: Optional[float] = None) -> PresentHistory:
        """Who was there at a moment. `known` is False when no reading tells."""
        return self._ask("present", timeout, at=_to_ms(at))

    def _ask(
        self,
        question: str,
        timeout: Optional[float],
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        **more: Any,
    ) -> Any:
        query = {"from": _to_ms(from_), "to": _to_ms(to), **more}
        return self._wire.run(self._core.read(f"{_SERVER}/history/{question}", query, timeout=timeout))


class Gatehouse:
    """The client of one game server: the API key says which. Methods block; each may be called by any thread.

    `timeout`: the deadline of each request in seconds, its body included. No request is made before the first call.
    """

    def __init__(self, base_url: str, token: str, timeout: float = 10) -> None:
        self._core = _Core(base_url, token, timeout)
        self._wire = _Wire(self._core.base)
        self.server = Server(self._core, self._wire)
        self.commands = Commands(self._core, self._wire)
        self.players = Players(self._core, self._wire)
        self.modcalls = ModCalls(self._core, self._wire)
        self.history = History(self._core, self._wire)

    @property
    def limit(self) -> Optional[LimitState]:
        """What was left of the key's limit at the last answer; None before the first."""
        return self._core.limit

    def events(
        self,
        after: Optional[str] = None,
        types: Optional[Iterable[str]] = None,
        on_outage: Optional[Callable[[GatehouseError, float], None]] = None,
    ) -> EventStream:
        """Follows the events of the server, over restarts.

        `after`: a cursor, `earliest` or `now` (the default). `types`: such as `player.joined` or `player.*`; a gap comes
        with every type. `on_outage` is told of a failed connection, and the seconds until the next.
        """
        position = _Position(after)
        return EventStream(self._wire, self._core.follow(_listed(types), position, on_outage), position)

    def list_events(
        self,
        after: Optional[str] = None,
        before: Optional[str] = None,
        types: Optional[Iterable[str]] = None,
        player: Optional[_PlayerId] = None,
        limit: Optional[int] = None,
        wait: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> EventPage:
        """One page of the ledger, oldest first; the newest events without `after` and `before`.

        `wait`: seconds that Gatehouse waits for an event when there is none, 0 to 25.
        """
        query = {"after": after, "before": before, "types": _join(types), "player": player, "limit": limit, "wait": wait}
        return self._wire.run(self._core.read(f"{_SERVER}/events", query, timeout=timeout, extra=wait or 0))

    def key(self, timeout: Optional[float] = None) -> OwnKeyResource:
        """What the API key may do."""
        return self._wire.run(self._core.read("/v2/game/key", timeout=timeout))


# The asynchronous client: the same core, on aiohttp.


class _AsyncStream:
    def __init__(self, response: Any) -> None:
        self._response = response

    async def read(self, timeout: float) -> bytes:
        return cast(bytes, await _within(timeout, self._response.content.readany()))

    def close(self) -> None:
        self._response.close()


class _AsyncWire:
    def __init__(self, base: _Base, session: Any) -> None:
        self._base = base
        self._session = session
        self._owns_session = session is None

    async def send(self, step: _Send) -> _Reply:
        return await _within(step.timeout, self._exchange(step))

    async def open(self, step: _Open) -> Tuple[_Reply, Optional[_AsyncStream]]:
        return await _within(step.timeout, self._open(step))

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _exchange(self, step: _Send) -> _Reply:
        async with await self._request(step.method, step.path, step.headers, step.body) as response:
            return await self._read_reply(response)

    async def _open(self, step: _Open) -> Tuple[_Reply, Optional[_AsyncStream]]:
        response = await self._request("GET", step.path, step.headers, None)
        if response.status == 200:
            return _Reply(200, _lower(response.headers), b""), _AsyncStream(response)
        async with response:
            return await self._read_reply(response), None

    async def _request(self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes]) -> Any:
        import aiohttp
        import yarl

        if self._session is None:
            # A connection of its own for each request: one that was kept may end just when it is used.
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True))
        url = yarl.URL(_write_origin(self._base) + self._base.path + path, encoded=True)
        # The core has the deadlines.
        timeout = aiohttp.ClientTimeout(total=None)
        return await self._session.request(
            method,
            url,
            data=body,
            headers=headers,
            timeout=timeout,
            allow_redirects=False,
            raise_for_status=False,
        )

    async def _read_reply(self, response: Any) -> _Reply:
        parts: List[bytes] = []
        size = 0
        async for part in response.content.iter_any():
            parts.append(part)
            size += len(part)
            if size > _BODY_BYTES_MAX:
                raise GatehouseError("the answer is too large", status=response.status)
        return _Reply(response.status, _lower(response.headers), b"".join(parts))

    async def run(self, steps: _Steps[_T]) -> _T:
        walk = _Walk(steps)
        while walk.go_on():
            try:
                if isinstance(walk.step, _Send):
                    walk.answer(await self.send(walk.step))
                else:
                    await self.wait(walk.step.seconds)
                    walk.answer(None)
            except _Lost as lost:
                walk.fail(lost)
        return cast(_T, walk.value)

    async def close(self) -> None:
        session, self._session = self._session, None if self._owns_session else self._session
        if self._owns_session and session is not None:
            await session.close()


async def _within(seconds: float, work: Coroutine[Any, Any, _T]) -> _T:
    import aiohttp

    try:
        return await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError:
        lost = _Lost("the answer took too long", is_late=True)
    except (aiohttp.ClientError, OSError) as error:
        lost = _Lost(error)
    # Out here, so that it has no cause: errors of aiohttp hold the request, and with it the API key.
    raise lost


def _lower(headers: Mapping[str, str]) -> Mapping[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _write_origin(base: _Base) -> str:
    return f"{'https' if base.is_tls else 'http'}://{base.authority}"


def _take_outcome(work: asyncio.Future[Any]) -> None:
    """So that asyncio does not complain when nobody asks for it any more."""
    if not work.cancelled():
        work.exception()


class AsyncEventStream:
    """As EventStream, for `async for`. `await close()` ends it; cancelling a task that waits for an event loses none."""

    def __init__(self, wire: _AsyncWire, steps: _Steps[None], position: _Position) -> None:
        self._wire = wire
        self._walk = _Walk(steps)
        self._position = position
        self._open: Optional[_AsyncStream] = None
        #: What a caller waited for who was cancelled; the next one goes on with it.
        self._work: Optional[asyncio.Future[Any]] = None

    @property
    def cursor(self) -> Optional[str]:
        return self._position.cursor

    def __aiter__(self) -> AsyncEventStream:
        return self

    async def __anext__(self) -> Event:
        while self._walk.go_on():
            step = self._walk.step
            try:
                if isinstance(step, _Hand):
                    self._walk.answer(None)
                    return cast("Event", step.event)
                if self._work is None:
                    self._work = asyncio.ensure_future(self._do(step))
                    self._work.add_done_callback(_take_outcome)
                await asyncio.wait([self._work])
                work, self._work = self._work, None
                if work.cancelled():
                    break
                self._walk.answer(work.result())
            except _Lost as lost:
                self._walk.fail(lost)
        self._hang_up()
        raise StopAsyncIteration

    async def _do(self, step: Any) -> Any:
        if isinstance(step, _Read):
            return await self._open.read(step.timeout) if self._open else b""
        self._hang_up()
        if isinstance(step, _Wait):
            return await self._wire.wait(step.seconds)
        reply, self._open = await self._wire.open(step)
        return reply

    def _hang_up(self) -> None:
        if self._open:
            self._open.close()
        self._open = None

    async def close(self) -> None:
        self._walk.end()
        if self._work:
            self._work.cancel()
        self._hang_up()

    async def __aenter__(self) -> AsyncEventStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __del__(self) -> None:
        self._hang_up()


class AsyncServer:
    """Reads the state of the game server."""

    def __init__(self, core: _Core, wire: _AsyncWire) -> None:
        self._core = core
        self._wire = wire

    async def get(self, include: Iterable[Section] = (), timeout: Optional[float] = None) -> ServerInfo:
        """The eight fields that every server has, and the included sections: one request, however many."""
        return (await self._wire.run(self._core.server(include, timeout))).info

    async def read(self, include: Iterable[Section] = (), timeout: Optional[float] = None) -> ServerReading:
        """Like `get`, with the age of what it says."""
        return await self._wire.run(self._core.server(include, timeout))

    async def players(self, timeout: Optional[float] = None) -> List[Player]:
        return await self._wire.run(self._core.section("Players", timeout))

    async def staff(self, timeout: Optional[float] = None) -> Staff:
        return await self._wire.run(self._core.section("Staff", timeout))

    async def join_logs(self, timeout: Optional[float] = None) -> List[JoinLog]:
        return await self._wire.run(self._core.section("JoinLogs", timeout))

    async def queue(self, timeout: Optional[float] = None) -> List[int]:
        """The ids of who waits to join, in order."""
        return await self._wire.run(self._core.section("Queue", timeout))

    async def kill_logs(self, timeout: Optional[float] = None) -> List[KillLog]:
        return await self._wire.run(self._core.section("KillLogs", timeout))

    async def command_logs(self, timeout: Optional[float] = None) -> List[CommandLog]:
        return await self._wire.run(self._core.section("CommandLogs", timeout))

    async def mod_calls(self, timeout: Optional[float] = None) -> List[ModCall]:
        return await self._wire.run(self._core.section("ModCalls", timeout))

    async def emergency_calls(self, timeout: Optional[float] = None) -> List[EmergencyCall]:
        return await self._wire.run(self._core.section("EmergencyCalls", timeout))

    async def vehicles(self, timeout: Optional[float] = None) -> List[Vehicle]:
        return await self._wire.run(self._core.section("Vehicles", timeout))

    async def map(self, timeout: Optional[float] = None) -> GameMapResource:
        """Where street names and postal codes were seen."""
        return await self._wire.run(self._core.read(f"{_SERVER}/map", timeout=timeout))


class AsyncCommand:
    """A command that Gatehouse has accepted."""

    def __init__(self, commands: AsyncCommands, command_id: str) -> None:
        self._commands = commands
        self.id = command_id

    async def status(self, timeout: Optional[float] = None) -> CommandResource:
        return await self._commands.get(self.id, timeout)

    async def settled(self, timeout: float = 900) -> CommandResource:
        """Waits for its final status, over restarts too. Raises GatehouseError when the time is up.

        `sent`: the game API took it. `unknown`: nobody can tell, and it is never sent again by itself.
        """
        return await self._commands.wait_for_end(self.id, timeout)

    async def cancel(self, timeout: Optional[float] = None) -> CommandResource:
        """Takes it out of the queue. Raises GatehouseError with status 409 when it no longer waits."""
        return await self._commands.cancel(self.id, timeout)


class AsyncCommands:
    """Sends commands, each at most once, and follows them to their end."""

    def __init__(self, core: _Core, wire: _AsyncWire) -> None:
        self._core = core
        self._wire = wire

    async def send(
        self, text: str, idempotency_key: Optional[str] = None, timeout: Optional[float] = None
    ) -> AsyncCommand:
        """Queues a command. It is tried again while Gatehouse cannot be reached, with the same key: it is queued once.

        An error that leaves open whether it is queued has its `idempotency_key`.
        """
        return AsyncCommand(self, await self._wire.run(self._core.send_command(text, idempotency_key, timeout)))

    def handle(self, command_id: str) -> AsyncCommand:
        """The handle of a command that was sent earlier."""
        return AsyncCommand(self, command_id)

    async def get(self, command_id: str, timeout: Optional[float] = None) -> CommandResource:
        return await self._wire.run(self._core.read(_command_path(command_id), timeout=timeout))

    async def list(
        self,
        status: Optional[CommandStatus] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> CommandPage:
        """Newest first."""
        query = {"status": status, "limit": limit, "cursor": cursor}
        return await self._wire.run(self._core.read(f"{_SERVER}/command", query, timeout=timeout))

    async def cancel(self, command_id: str, timeout: Optional[float] = None) -> CommandResource:
        return (await self._wire.run(self._core.call("DELETE", _command_path(command_id), timeout=timeout)))[1]

    async def wait_for_end(self, command_id: str, timeout: float = 900) -> CommandResource:
        return await self._wire.run(self._core.settle(command_id, timeout))


class AsyncPlayers:
    def __init__(self, core: _Core, wire: _AsyncWire) -> None:
        self._core = core
        self._wire = wire

    async def search(
        self,
        query: Optional[str] = None,
        here: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PlayerPage:
        """Everybody who was ever seen, latest first. `query`: part of a name, or the beginning of the id."""
        asked = {"query": query, "here": here, "limit": limit, "cursor": cursor}
        return await self._wire.run(self._core.read(f"{_SERVER}/players", asked, timeout=timeout))

    async def get(self, player_id: _PlayerId, timeout: Optional[float] = None) -> PlayerRecord:
        """What is known about a player. Raises GatehouseError 5020 for one who was never seen."""
        return await self._wire.run(self._core.read(_player_path(player_id), timeout=timeout))


class AsyncModCalls:
    def __init__(self, core: _Core, wire: _AsyncWire) -> None:
        self._core = core
        self._wire = wire

    async def list(
        self,
        state: Optional[Iterable[str]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ModCallPage:
        """Callers who are on the server first, then the oldest; those that wait or are claimed by default."""
        query = {"state": _join(state), "limit": limit, "cursor": cursor}
        return await self._wire.run(self._core.read(f"{_SERVER}/modcalls", query, timeout=timeout))

    async def claim(self, call_id: str, take: bool = False, timeout: Optional[float] = None) -> ModCallResource:
        """Says "I am on it". Raises GatehouseError with status 409 when somebody else is, unless `take`."""
        body = {"take": True} if take else None
        return (await self._wire.run(self._core.call("POST", _claim_path(call_id), body, timeout=timeout)))[1]

    async def release(self, call_id: str, timeout: Optional[float] = None) -> ModCallResource:
        """It waits again."""
        return (await self._wire.run(self._core.call("DELETE", _claim_path(call_id), timeout=timeout)))[1]


class AsyncHistory:
    """Questions about the past; the last 24 hours by default. A time is a datetime, or epoch milliseconds."""

    def __init__(self, core: _Core, wire: _AsyncWire) -> None:
        self._core = core
        self._wire = wire

    async def players(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        resolution: Optional[Literal["1m", "5m", "1h", "1d"]] = None,
        timeout: Optional[float] = None,
    ) -> PlayersHistory:
        """How many played, over time. A point without readings has None, not zero."""
        return await self._ask("players", timeout, from_, to, resolution=resolution)

    async def sessions(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        player: Optional[_PlayerId] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> SessionPage:
        """Who was there, from when to when; of one player with `player`, an id."""
        return await self._ask("sessions", timeout, from_, to, player=player, limit=limit, cursor=cursor)

    async def playtime(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PlaytimePage:
        """How long each player was there, most first."""
        return await self._ask("playtime", timeout, from_, to, limit=limit, cursor=cursor)

    async def staff(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> StaffPage:
        """What the staff did."""
        return await self._ask("staff", timeout, from_, to, limit=limit, cursor=cursor)

    async def peaks(
        self,
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        tz: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PeaksResource:
        """Players on average for each hour of the week; `tz` such as `Europe/Berlin`, UTC by default."""
        return await self._ask("peaks", timeout, from_, to, tz=tz)

    async def present(self, at: _Time, timeout: Optional[float] = None) -> PresentHistory:
        """Who was there at a moment. `known` is False when no reading tells."""
        return await self._ask("present", timeout, at=_to_ms(at))

    async def _ask(
        self,
        question: str,
        timeout: Optional[float],
        from_: Optional[_Time] = None,
        to: Optional[_Time] = None,
        **more: Any,
    ) -> Any:
        query = {"from": _to_ms(from_), "to": _to_ms(to), **more}
        return await self._wire.run(self._core.read(f"{_SERVER}/history/{question}", query, timeout=timeout))


class AsyncGatehouse:
    """As Gatehouse, for asyncio: `async with AsyncGatehouse(…) as gatehouse`, or `await gatehouse.close()` at the end.

    `session`: an aiohttp.ClientSession to use instead of one of its own.
    """

    def __init__(self, base_url: str, token: str, timeout: float = 10, session: Any = None) -> None:
        try:
            import aiohttp  # noqa: F401
        except ImportError as error:
            raise ImportError("AsyncGatehouse needs aiohttp: pip install aiohttp") from error
        self._core = _Core(base_url, token, timeout)
        self._wire = _AsyncWire(self._core.base, session)
        self._streams: weakref.WeakSet[AsyncEventStream] = weakref.WeakSet()
        self.server = AsyncServer(self._core, self._wire)
        self.commands = AsyncCommands(self._core, self._wire)
        self.players = AsyncPlayers(self._core, self._wire)
        self.modcalls = AsyncModCalls(self._core, self._wire)
        self.history = AsyncHistory(self._core, self._wire)

    @property
    def limit(self) -> Optional[LimitState]:
        """What was left of the key's limit at the last answer; None before the first."""
        return self._core.limit

    def events(
        self,
        after: Optional[str] = None,
        types: Optional[Iterable[str]] = None,
        on_outage: Optional[Callable[[GatehouseError, float], None]] = None,
    ) -> AsyncEventStream:
        """Follows the events of the server, over restarts.

        `after`: a cursor, `earliest` or `now` (the default). `types`: such as `player.joined` or `player.*`; a gap comes
        with every type. `on_outage` is told of a failed connection, and the seconds until the next.
        """
        position = _Position(after)
        stream = AsyncEventStream(self._wire, self._core.follow(_listed(types), position, on_outage), position)
        self._streams.add(stream)
        return stream

    async def list_events(
        self,
        after: Optional[str] = None,
        before: Optional[str] = None,
        types: Optional[Iterable[str]] = None,
        player: Optional[_PlayerId] = None,
        limit: Optional[int] = None,
        wait: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> EventPage:
        """One page of the ledger, oldest first; the newest events without `after` and `before`.

        `wait`: seconds that Gatehouse waits for an event when there is none, 0 to 25.
        """
        query = {"after": after, "before": before, "types": _join(types), "player": player, "limit": limit, "wait": wait}
        return await self._wire.run(self._core.read(f"{_SERVER}/events", query, timeout=timeout, extra=wait or 0))

    async def key(self, timeout: Optional[float] = None) -> OwnKeyResource:
        """What the API key may do."""
        return await self._wire.run(self._core.read("/v2/game/key", timeout=timeout))

    async def close(self) -> None:
        # They would connect again.
        for stream in list(self._streams):
            await stream.close()
        await self._wire.close()

    async def __aenter__(self) -> AsyncGatehouse:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
