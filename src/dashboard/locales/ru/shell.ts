// Russian text of the frame.
import type { shell as english } from "../en/shell.ts";
import type { Translation } from "../translation.ts";

export const shell: Translation<typeof english> = {
  product: "Gatehouse",
  skip: "Перейти к содержанию",
  navigation: "Разделы",
  openNavigation: "Открыть меню",
  closeNavigation: "Закрыть меню",
  language: "Язык",
  english: "English",
  russian: "Русский",
  toDark: "Тёмное оформление",
  toLight: "Светлое оформление",
  signOut: "Выйти",
  operator: "Оператор",
  docs: "Справочник API",
  notFound: "Такого раздела нет.",
  broken: "В этом разделе произошёл сбой. Остальная страница работает.",
  missing: "Не удалось загрузить раздел: Gatehouse недоступен.",
  missingText: "Если повторы не помогают, Gatehouse могли обновить: тогда перезагрузите страницу.",
  parts: "Части раздела",
  now: "Сейчас",
  tryAgain: "Повторить",
  copy: "Скопировать",
  copied: "Скопировано",
  notCopied: "Скопировать не удалось",
  loadMore: "Показать ещё",
  search: "Поиск",
  close: "Закрыть",
  cancel: "Отмена",
};
