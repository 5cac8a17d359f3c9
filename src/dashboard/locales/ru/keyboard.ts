// Russian text of the list of keys.
import type { keyboard as english } from "../en/keyboard.ts";
import type { Translation } from "../translation.ts";

export const keyboard: Translation<typeof english> = {
  title: "Клавиши",
  on: "Одиночные клавиши действуют",
  onHint: "Выключите, если управляете компьютером голосом или если они мешают. Этот браузер запомнит выбор.",
  search: "поиск в этом разделе",
  help: "показать этот список",
  close: "закрыть окно или меню",
  views: "Перейти в раздел",
  hint: "Клавиши нажимаются одна за другой, в любой раскладке. Пока вы печатаете или открыто окно, они не действуют.",
};
