// Russian text of the view "vehicles".
import type { vehicles as english } from "../en/vehicles.ts";
import type { Translation } from "../translation.ts";

export const vehicles: Translation<typeof english> = {
  title: "Транспорт",
  summary: "Весь транспорт на сервере.",
  empty: "На сервере нет транспорта",
  column: { name: "Машина", owner: "Владелец", plate: "Номер", texture: "Окраска", colour: "Цвет" },
};
