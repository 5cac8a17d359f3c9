// Adds the texts about the past to the languages of the page. They are loaded with the views that show it.
import i18next from "i18next";
import { history as en } from "../../locales/en/history.ts";
import { history as ru } from "../../locales/ru/history.ts";

i18next.addResourceBundle("en", "history", en);
i18next.addResourceBundle("ru", "history", ru);
