// Adds the texts of the drawer to the languages of the page. They are loaded with the drawer and not with the page.
import i18next from "i18next";
import { player as en } from "../../locales/en/player.ts";
import { player as ru } from "../../locales/ru/player.ts";

i18next.addResourceBundle("en", "player", en);
i18next.addResourceBundle("ru", "player", ru);
