// Russian text of the view "players".
import type { players as english } from "../en/players.ts";
import type { Translation } from "../translation.ts";

export const players: Translation<typeof english> = {
  title: "Игроки",
  summary: "Все, кто на сервере.",
  playtime: "Время в игре",
  playtimeSummary: "Кто играет больше всех.",
  empty: "На сервере никого нет",
  column: {
    name: "Имя",
    id: "Id",
    team: "Команда",
    callsign: "Позывной",
    permission: "Права",
    wanted: "Розыск",
    place: "Место",
  },
  permission: {
    Normal: "Обычные",
    "Server Helper": "Помощник",
    "Server Moderator": "Модератор",
    "Server Administrator": "Администратор",
    "Server Co-Owner": "Совладелец",
    "Server Owner": "Владелец",
  },
  stars: "Звёзды розыска: {{n}}",
};
