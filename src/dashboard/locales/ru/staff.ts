// Russian text of the view "staff".
import type { staff as english } from "../en/staff.ts";
import type { Translation } from "../translation.ts";

export const staff: Translation<typeof english> = {
  title: "Администрация",
  summary: "Администраторы, модераторы и помощники.",
  activity: "Активность",
  activitySummary: "Кто был на сервере, сколько времени и что делал.",
  empty: "У сервера нет администрации",
  column: { name: "Имя", id: "Id", role: "Роль", here: "Где сейчас" },
  role: { Admins: "Администратор", Mods: "Модератор", Helpers: "Помощник" },
  here: "На сервере",
  away: "Не в игре",
};
