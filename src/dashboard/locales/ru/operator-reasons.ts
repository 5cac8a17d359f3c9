// Russian text of the admin API's reasons for refusing a field.
import type { operatorReasons as english } from "../en/operator-reasons.ts";
import type { Translation } from "../translation.ts";

export const operatorReasons: Translation<typeof english> = {
  text: "нужно от 1 до 100 обычных символов",
  serverKey: "нужен ключ сервера игрового API: буквы и цифры, дефис, буквы и цифры",
  community: "нужно от 1 до 64 латинских букв, цифр, _ или -; можно оставить пустым",
  nameTaken: "так уже называется другой сервер",
  slugTaken: "этот адрес уже занят другим сервером",
  slug: "от 1 до 64 строчных латинских букв, цифр и дефисов, без дефиса по краям, или пусто",
  commands: "нужно не больше 100 названий команд, таких как «:h», каждое один раз",
  commandTwice: "одно из названий указано дважды; регистр букв не важен",
  addresses:
    "нужно не больше 100 адресов или диапазонов, таких как 203.0.113.7, 10.0.0.0/8 или 2001:db8::/32",
  address: "запись {{place}}: это не адрес и не диапазон вида 10.0.0.0/8",
  expiry: "нужно время в будущем; можно оставить пустым",
  noServer: "такого сервера нет",
  grace: "нужно целое число секунд, не больше 30 дней",
  yesOrNo: "должно быть «да» или «нет»",
  required: "нужно заполнить",
  revoked: "ключ отозван, и это не изменить",
  waitsNoMore: "команда больше не ждёт",
};
