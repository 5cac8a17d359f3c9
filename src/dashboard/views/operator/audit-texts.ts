// Adds the texts of the view "audit" to the languages of the page. They are loaded with the view and not with the page.
import i18next from "i18next";
import { audit as en } from "../../locales/en/audit.ts";
import { audit as ru } from "../../locales/ru/audit.ts";

i18next.addResourceBundle("en", "audit", en);
i18next.addResourceBundle("ru", "audit", ru);
