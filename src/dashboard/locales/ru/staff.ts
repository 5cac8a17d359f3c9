// Russian text of the view "staff".
import type { staff as english } from "../en/staff.ts";
import type { Translation } from "../translation.ts";

export const staff: Translation<typeof english> = {
  title: "Персонал",
  summary: "Администраторы, модераторы и помощники.",
  empty: "У сервера нет персонала",
  column: { name: "Имя", id: "Id", role: "Роль", here: "На сервере" },
  role: { Admins: "Администратор", Mods: "Модератор", Helpers: "Помощник" },
  here: "Здесь",
  away: "Не здесь",
};
