// What a notice says in the user's language: what is the matter, since and until when, and what to do.
import type { TFunction } from "i18next";
import { NOTICE_CODES, type NoticeCode } from "../../../../core/notice-codes.ts";
import type { Notice } from "../../../../core/wire/health.ts";

/** Of the user, as useFormat makes it. */
type NoticeFormat = { readonly [Kind in "number" | "duration" | "dateTime"]: (value: number) => string };

const MIB = 1024 * 1024;

/** Where more is to be seen. */
const VIEWS: { readonly [Code in NoticeCode]?: "servers" | "webhooks" | "blocks" } = {
  upstream_failing: "servers",
  server_keys_refused: "servers",
  parked_servers: "servers",
  webhooks_disabled: "webhooks",
  keys_blocked: "blocks",
};

export type DescribedNotice = {
  readonly what: string;
  readonly todo: string;
  readonly when: string | undefined;
  /** The view to go to. */
  readonly view: (typeof VIEWS)[NoticeCode];
  /** Whether it is in English, because the instance that answers is newer than this page. */
  readonly isForeign: boolean;
};

export function describeNotice(notice: Notice, t: TFunction<"operatorHealth">, format: NoticeFormat): DescribedNotice {
  const { code, message, remedy, since, until, servers = [], names = [], count = 0 } = notice;
  const begin = since !== undefined && t("since", { time: format.dateTime(since) });
  const end = until !== undefined && t("until", { time: format.dateTime(until) });
  const when = [begin, end].filter((text) => text !== false).join(" · ") || undefined;
  // An older instance says no remedy.
  if (!(code in NOTICE_CODES)) return { what: message, todo: remedy ?? "", when, view: undefined, isForeign: true };
  const others = (listed: readonly string[]) => (count > listed.length ? ", …" : "");
  const values = {
    message,
    remedy,
    command: notice.command,
    n: format.number(count),
    servers: servers.join(", ") + others(servers),
    names: names.map((name) => `«${name}»`).join(", ") + others(names),
    time: format.duration((notice.retry_after ?? 0) * 1000),
    reason: notice.reason,
    address: notice.address,
    free: format.number(Math.floor((notice.free_bytes ?? 0) / MIB)),
    days: notice.days_left === undefined ? "" : t("daysLeft", { n: format.number(notice.days_left) }),
    offset: format.duration(Math.abs(notice.offset_ms ?? 0)),
    path: notice.path ?? "master.key",
  };
  const what = t(`notice.${code}`, values);
  return { what, todo: t(`remedy.${code}`, values), when, view: VIEWS[code], isForeign: false };
}
