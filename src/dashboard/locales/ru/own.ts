// Russian text of the page of an invitation and of one's own page.
import type { own as english } from "../en/own.ts";
import type { Translation } from "../translation.ts";

export const own: Translation<typeof english> = {
  invited: "Вас пригласили в Gatehouse",
  invitedText:
    "Вам прислали эту ссылку, чтобы вы входили под своим именем. Она сработает один раз. Продолжайте, только если ждали её.",
  accept: "Принять приглашение",
  invitationGone:
    "Приглашение больше не работает: каждое действует один раз и 24 часа, а новое заменяет прежнее. Попросите новое у того, кто его прислал.",
  toSignIn: "На страницу входа",
  passkeyOffer: "Добавить ключ доступа?",
  passkeyText:
    "Вы вошли. С ключом доступа вы входите по отпечатку, лицу или блокировке экрана, в любом браузере, где он есть, и без пароля.",
  addPasskey: "Добавить ключ доступа",
  onlyHere: "Только это устройство, 30 дней",
  roles: "Ваши серверы",
  noRoles: "Пока у вас нет роли ни на одном сервере. Обратитесь к тому, кто вас пригласил.",
  isOperator: "Вы оператор: вам можно всё на каждом сервере.",
  passkeys: "Ключи доступа",
  noPasskeys: "Пока нет. Без ключа это устройство помнит вас 30 дней после последнего входа.",
  usedAt: "последний вход {{time}}",
  neverUsed: "не использовался",
  since: "с {{time}}",
  until: "до {{time}}",
  remove: "Удалить",
  removeName: "Удалить ключ доступа {{name}}",
  removePasskey: "Удалить ключ доступа?",
  removePasskeyText: "{{name}}: войти с ним будет нельзя. Сеансы останутся.",
  sessions: "Где вы вошли",
  thisOne: "этот",
  unknown: "Неизвестный браузер",
  end: "Завершить",
  endName: "Завершить сеанс {{name}}",
  signOutText: "Завершает сеанс в этом браузере.",
};
