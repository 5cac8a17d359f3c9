// The words of messages to Discord, in every language. None of them is markdown.
import type { AlertWords } from "../../alerts/recognise-alert.ts";
import type { EventType } from "../../events/event-types.ts";
import type { Section } from "../../sections.ts";
import type { WebhookLanguage } from "../webhook.ts";
import { sayAlertInRussian } from "./russian-alerts.ts";

export type DiscordWords = {
  readonly title: Readonly<Record<EventType, string>>;
  /** Appended to the title of an emergency call. */
  readonly callNumber: string;
  readonly killed: string;
  readonly killedThemselves: string;
  readonly diedWithoutKiller: string;
  readonly joined: string;
  readonly left: string;
  readonly used: string;
  readonly throughGatehouse: string;
  readonly asksForModerator: string;
  readonly cameTo: string;
  readonly waited: string;
  readonly lasted: string;
  readonly someone: string;
  readonly player: string;
  readonly nothing: string;
  readonly on: string;
  readonly off: string;
  readonly hidden: string;
  readonly changed: string;
  readonly more: string;
  readonly waiting: string;
  readonly gameSays: string;
  readonly unit: { readonly s: string; readonly min: string; readonly h: string };
  /** Names of fields of the game's elements and of our own. */
  readonly field: Readonly<Record<string, string>>;
  readonly team: Readonly<Record<string, string>>;
  readonly permission: Readonly<Record<string, string>>;
  readonly role: Readonly<Record<string, string>>;
  readonly rule: Readonly<Record<string, string>>;
  /** Says an alert without naming whom it is about; undefined where the event's own sentence is told. */
  readonly sayAlert: ((alert: AlertWords) => string) | undefined;
  readonly section: Readonly<Record<Section | "*", string>>;
  readonly gapReason: Readonly<Record<string, string>>;
  readonly concerns: string;
  readonly since: string;
  readonly until: string;
  readonly test: { readonly title: string; readonly text: string };
  readonly status: StatusWords;
};

export type StatusWords = {
  readonly online: string;
  readonly offline: string;
  readonly unreachable: string;
  readonly unknown: string;
  readonly players: string;
  readonly of: string;
  readonly queue: string;
  readonly staff: string;
  readonly modCalls: string;
  readonly calls: string;
  readonly nobody: string;
  readonly none: string;
  readonly joinKey: string;
  readonly asOf: string;
  readonly neverRead: string;
};

const EN: DiscordWords = {
  title: {
    "player.joined": "🟢 Joined",
    "player.left": "⚪ Left",
    "player.killed": "💀 Kill",
    "command.used": "⌨️ Command",
    "modcall.opened": "🔔 Call for a moderator",
    "modcall.answered": "✅ Moderator answered",
    "call.opened": "🚨 Emergency call",
    "call.changed": "🚨 Emergency call changed",
    "call.closed": "🏁 Emergency call ended",
    "custom.command": "🧩 Custom command",
    "custom.unknown": "❔ Unknown message from the game",
    "player.changed": "🔁 Player changed",
    "vehicle.spawned": "🚗 Vehicle spawned",
    "vehicle.removed": "🅿️ Vehicle removed",
    "staff.added": "⭐ Joined the staff",
    "staff.removed": "➖ Left the staff",
    "queue.changed": "⏳ Queue changed",
    "server.changed": "⚙️ Server settings changed",
    "server.online": "🌐 Server online",
    "server.offline": "💤 Server offline",
    "server.unreachable": "⛔ Server unreachable",
    "alert.raised": "⚠️ Alert",
    "alert.cleared": "👌 Alert over",
    gap: "🕳️ Something may be missing here",
  },
  callNumber: "no.",
  killed: "killed",
  killedThemselves: "killed themselves",
  diedWithoutKiller: "died. The game names no killer.",
  joined: "joined the server",
  left: "left the server",
  used: "used",
  throughGatehouse: "Sent through Gatehouse",
  asksForModerator: "asks for a moderator",
  cameTo: "came to",
  waited: "Waited",
  lasted: "Lasted",
  someone: "Somebody",
  player: "Player",
  nothing: "none",
  on: "on",
  off: "off",
  hidden: "changed, not shown here",
  changed: "Changed",
  more: "and more:",
  waiting: "Players waiting",
  gameSays: "The game says",
  unit: { s: "s", min: "min", h: "h" },
  field: {
    Team: "Team",
    Callsign: "Callsign",
    Permission: "Permission",
    WantedStars: "Wanted stars",
    Name: "Name",
    OwnerId: "Owner",
    CoOwnerIds: "Co-owners",
    MaxPlayers: "Places",
    JoinKey: "Join key",
    AccVerifiedReq: "Verified account",
    TeamBalance: "Team balance",
    Caller: "Caller",
    Players: "Responding",
    Position: "Coordinates",
    PositionDescriptor: "Where",
    Description: "Description",
    Owner: "Owner",
    Plate: "Plate",
    ColorName: "Colour",
    Texture: "Livery",
    Role: "Role",
  },
  team: {},
  permission: {
    "Server Helper": "Helper",
    "Server Moderator": "Moderator",
    "Server Administrator": "Administrator",
    "Server Co-Owner": "Co-owner",
    "Server Owner": "Owner",
  },
  role: { Admins: "administrator", Mods: "moderator", Helpers: "helper" },
  rule: {
    kills: "Many kills",
    mass_command: "Dangerous command",
    unanswered_modcall: "Nobody answers a call for a moderator",
    offline: "Server offline",
    unreachable: "Server unreachable",
    players: "Number of players",
  },
  sayAlert: undefined,
  section: {
    Players: "players",
    Staff: "staff",
    JoinLogs: "joins and leaves",
    Queue: "queue",
    KillLogs: "kills",
    CommandLogs: "commands",
    ModCalls: "calls for a moderator",
    EmergencyCalls: "emergency calls",
    Vehicles: "vehicles",
    "*": "players, vehicles, staff, queue, emergency calls and settings",
  },
  gapReason: {
    no_overlap: "More happened between two readings than the game shows, so entries may have been lost.",
    not_watched: "Gatehouse did not read the server for a while, so changes in this time were not seen.",
    archive: "Events could not be stored for a while.",
    server_replaced: "The server key was changed to another game server. What follows is about that one.",
    retention: "Older events were deleted before they could be sent here.",
    other: "Gatehouse has marked that events may be missing.",
  },
  concerns: "Concerns",
  since: "Since",
  until: "Until",
  test: {
    title: "🔧 Test",
    text: "Gatehouse can write here. Events of this server will appear in this channel.",
  },
  status: {
    online: "🟢 Online",
    offline: "💤 Offline",
    unreachable: "⛔ Unreachable",
    unknown: "❔ Unknown",
    players: "Players",
    of: "of",
    queue: "Queue",
    staff: "Staff on the server",
    modCalls: "🔔 Open calls for a moderator",
    calls: "🚨 Emergency calls",
    nobody: "nobody",
    none: "none",
    joinKey: "Join key",
    asOf: "As of",
    neverRead: "Gatehouse has not read this server yet.",
  },
};

const RU: DiscordWords = {
  title: {
    "player.joined": "🟢 Вход",
    "player.left": "⚪ Выход",
    "player.killed": "💀 Убийство",
    "command.used": "⌨️ Команда",
    "modcall.opened": "🔔 Вызов модератора",
    "modcall.answered": "✅ Модератор ответил",
    "call.opened": "🚨 Экстренный вызов",
    "call.changed": "🚨 Экстренный вызов изменён",
    "call.closed": "🏁 Экстренный вызов завершён",
    "custom.command": "🧩 Пользовательская команда",
    "custom.unknown": "❔ Неизвестное сообщение игры",
    "player.changed": "🔁 Изменения игрока",
    "vehicle.spawned": "🚗 Транспорт появился",
    "vehicle.removed": "🅿️ Транспорт исчез",
    "staff.added": "⭐ Теперь в администрации",
    "staff.removed": "➖ Больше не в администрации",
    "queue.changed": "⏳ Очередь изменилась",
    "server.changed": "⚙️ Настройки сервера изменились",
    "server.online": "🌐 Сервер в сети",
    "server.offline": "💤 Сервер не в сети",
    "server.unreachable": "⛔ Сервер недоступен",
    "alert.raised": "⚠️ Оповещение",
    "alert.cleared": "👌 Оповещение снято",
    gap: "🕳️ Здесь может чего-то не хватать",
  },
  callNumber: "№",
  killed: "убивает игрока",
  killedThemselves: "убивает себя",
  diedWithoutKiller: "погибает. Убийцу игра не называет.",
  joined: "заходит на сервер",
  left: "выходит с сервера",
  used: "пишет",
  throughGatehouse: "Отправлено через Gatehouse",
  asksForModerator: "зовёт модератора",
  cameTo: "приходит по вызову игрока",
  waited: "Ожидание",
  lasted: "Длился",
  someone: "Кто-то",
  player: "Игрок",
  nothing: "нет",
  on: "вкл.",
  off: "выкл.",
  hidden: "изменился, здесь не показан",
  changed: "Изменилось",
  more: "и ещё:",
  waiting: "Игроков в очереди",
  gameSays: "Игра сообщает",
  unit: { s: "с", min: "мин", h: "ч" },
  field: {
    Team: "Команда",
    Callsign: "Позывной",
    Permission: "Права",
    WantedStars: "Звёзды розыска",
    Name: "Название",
    OwnerId: "Владелец",
    CoOwnerIds: "Совладельцы",
    MaxPlayers: "Места",
    JoinKey: "Ключ входа",
    AccVerifiedReq: "Подтверждение аккаунта",
    TeamBalance: "Баланс команд",
    Caller: "Кто вызвал",
    Players: "На вызове",
    Position: "Координаты",
    PositionDescriptor: "Где",
    Description: "Описание",
    Owner: "Владелец",
    Plate: "Номер",
    ColorName: "Цвет",
    Texture: "Раскраска",
    Role: "Роль",
  },
  team: {
    Civilian: "Гражданские",
    Police: "Полиция",
    Sheriff: "Шериф",
    Fire: "Пожарные",
    DOT: "Дорожная служба",
    Jail: "Тюрьма",
    ALL: "Все службы",
  },
  permission: {
    Normal: "Обычные",
    "Server Helper": "Помощник",
    "Server Moderator": "Модератор",
    "Server Administrator": "Администратор",
    "Server Co-Owner": "Совладелец",
    "Server Owner": "Владелец",
  },
  role: { Admins: "администратор", Mods: "модератор", Helpers: "помощник" },
  rule: {
    kills: "Много убийств",
    mass_command: "Опасная команда",
    unanswered_modcall: "На вызов модератора никто не отвечает",
    offline: "Сервер не в сети",
    unreachable: "Сервер недоступен",
    players: "Число игроков",
  },
  sayAlert: sayAlertInRussian,
  section: {
    Players: "игроки",
    Staff: "администрация",
    JoinLogs: "входы и выходы",
    Queue: "очередь",
    KillLogs: "убийства",
    CommandLogs: "команды",
    ModCalls: "вызовы модератора",
    EmergencyCalls: "экстренные вызовы",
    Vehicles: "транспорт",
    "*": "игроки, транспорт, администрация, очередь, экстренные вызовы и настройки",
  },
  gapReason: {
    no_overlap:
      "Между двумя чтениями произошло больше, чем показывает игра, поэтому часть записей могла пропасть.",
    not_watched: "Gatehouse какое-то время не читал сервер, поэтому изменения за это время не замечены.",
    archive: "Какое-то время события не удавалось сохранить.",
    server_replaced: "Ключ сервера сменили на ключ другого игрового сервера. Дальше речь идёт о нём.",
    retention: "Более старые события удалены раньше, чем их удалось сюда отправить.",
    other: "Gatehouse отметил, что часть событий могла пропасть.",
  },
  concerns: "Касается",
  since: "С",
  until: "До",
  test: {
    title: "🔧 Проверка",
    text: "Gatehouse может сюда писать. В этом канале будут появляться события сервера.",
  },
  status: {
    online: "🟢 В сети",
    offline: "💤 Не в сети",
    unreachable: "⛔ Недоступен",
    unknown: "❔ Неизвестно",
    players: "Игроки",
    of: "из",
    queue: "Очередь",
    staff: "Администрация на сервере",
    modCalls: "🔔 Открытые вызовы модератора",
    calls: "🚨 Экстренные вызовы",
    nobody: "никого",
    none: "нет",
    joinKey: "Ключ входа",
    asOf: "Данные",
    neverRead: "Gatehouse ещё не читал этот сервер.",
  },
};

const WORDS: Readonly<Record<WebhookLanguage, DiscordWords>> = { en: EN, ru: RU };

export function wordsOf(language: WebhookLanguage): DiscordWords {
  return WORDS[language];
}
