// Russian text of the parts that lists and tables are made of.
import type { table as english } from "../en/table.ts";
import type { Translation } from "../translation.ts";

export const table: Translation<typeof english> = {
  rows_one: "{{count}} запись",
  rows_few: "{{count}} записи",
  rows_many: "{{count}} записей",
  rows_other: "{{count}} записи",
  found_one: "{{n}} из {{count}} записи",
  found_few: "{{n}} из {{count}} записей",
  found_many: "{{n}} из {{count}} записей",
  found_other: "{{n}} из {{count}} записи",
  noMatch: "Ничего не найдено",
  noMatchHint: "Сократите запрос или снимите фильтр.",
  all: "Все",
  sortBy: "Сортировка",
  ascending: "{{column}} ↑",
  descending: "{{column}} ↓",
  more: "Показать ещё {{n}} из {{count}}",
  nothing: "ничего",
  unknown: "неизвестно",
  unknownTime: "время неизвестно",
  details: "Подробнее",
  buttons: "Действия",
  columns: "Столбцы",
  columnsReset: "Как было",
  sortsLoaded: "Сортируется только загруженное.",
  openPlayer: "Открыть: {{name}}",
  wholeText: "Показать весь текст",
};
