// Adds the texts of the view "webhooks" to the languages of the page. They are loaded with the view and not with the page.
import i18next from "i18next";
import { webhooks as en } from "../../locales/en/webhooks.ts";
import { webhooks as ru } from "../../locales/ru/webhooks.ts";

i18next.addResourceBundle("en", "webhooks", en);
i18next.addResourceBundle("ru", "webhooks", ru);
