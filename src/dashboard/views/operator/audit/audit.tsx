// The view "audit": who changed what, with the values before and after, filters and a download.
import { ActionIcon, Anchor, Badge, Group, Stack, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import type { TFunction } from "i18next";
import { type ChangeEvent, Fragment, use, useCallback, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { AuditEntryResource } from "../../../../core/wire/audit.ts";
import type { AuditFormat, AuditQuery } from "../../../api/admin.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import type { ShownColumn } from "../../../parts/table/table-columns.ts";
import { BriefContext, CopyButton, NameText } from "../../../parts/text/game-text.tsx";
import { Ago } from "../../../parts/text/time.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { hrefOf } from "../../../state/route.ts";
import { useAdmin, useAdminChange, useAdminRights, usePagedList } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { Facts, FieldValue, PlainTable, useServerNames, useTargetNames } from "../fields.tsx";
import { FormError, useLooseTexts } from "../form.tsx";
import { Hint, SmallButton } from "../layout.tsx";
import { ListFilter, makeColumn, PagedTable } from "../list-frame.tsx";
import { type DisabledFields, useProblemWords } from "../webhooks/webhook-words.tsx";

/** Every other action that has a name is blue. */
const ACTION_COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^(?:server|key|webhook|person)\.created$|\.(?:opened|added)$/, "teal"],
  [/\.(?:deleted|revoked|forgotten|removed|copied|map_image_removed)$/, "red"],
  [/\.(?:lifted|cancelled|resumed|ended|disabled)$/, "orange"],
];

export function AuditView() {
  const { mayAnywhere } = useAdminRights();
  return mayAnywhere("people") ? <AuditList /> : <AuditDownload />;
}

/** For who may download the log and not read it here. */
function AuditDownload() {
  const { t } = useTranslation("operatorAudit");
  const [filter, setFilter] = useState(NO_FILTER);
  return (
    <ViewPage title={t("title")}>
      <Filters filter={filter} onChange={setFilter} />
      <Downloads query={toQuery(filter)} />
    </ViewPage>
  );
}

function AuditList() {
  const { t } = useTranslation("operatorAudit");
  const admin = useAdmin();
  const [filter, setFilter] = useState(NO_FILTER);
  const [typed] = useDebouncedValue(filter, TYPING_MS);
  const query = toQuery(typed);
  const isFiltered = Object.keys(query).length > 0;
  const list = usePagedList(["audit", JSON.stringify(query)], (page) => admin.listAudit({ ...page, ...query }));
  // A page may be empty although there are more entries.
  const { hasMore, isLoadingMore, loadMore, pageCount } = list;
  const isEmptyPage = list.items.length === 0 && hasMore && !isLoadingMore && pageCount < EMPTY_PAGES_MAX;
  useEffect(() => {
    if (isEmptyPage) loadMore();
  }, [isEmptyPage, loadMore]);
  const viewing = useDialog<AuditEntryResource>();
  const nameOf = useNames();
  const columns = useEntryColumns(nameOf, viewing.open);
  return (
    <ViewPage
      title={t("title")}
      actions={
        <Tooltip label={t("refresh")}>
          <ActionIcon aria-label={t("refresh")} onClick={list.refresh}>
            <Icon name="refresh" size={18} />
          </ActionIcon>
        </Tooltip>
      }
    >
      <Filters filter={filter} onChange={setFilter} />
      <PagedTable
        toolbar={<Downloads query={query} />}
        list={list}
        label={t("list")}
        name="operator-audit"
        empty={{ title: t(isFiltered ? "noMatch" : "empty") }}
        columns={columns}
        keyOf={keyOfEntry}
      />
      <Dialog state={viewing} title={<NameText text={(viewing.item && nameOf(viewing.item)) ?? ""} />} isLarge>
        {(entry) => <EntryDetails entry={entry} />}
      </Dialog>
    </ViewPage>
  );
}

type Filter = { readonly [Name in "actor" | "action" | "query" | "from" | "to"]: string };
const NO_FILTER: Filter = { actor: "", action: "", query: "", from: "", to: "" };
/** Typing that is faster than this causes no request for each letter. */
const TYPING_MS = 300;
const TEXT_MAX = 100;
/** Pages without any entry are followed by the next one, up to so many pages. */
const EMPTY_PAGES_MAX = 40;
const FORMATS: readonly AuditFormat[] = ["csv", "jsonl"];

function toQuery({ actor, action, query, from, to }: Filter): AuditQuery {
  const start = dayStart(from, 0);
  const end = dayStart(to, 1);
  return {
    ...(actor.trim() !== "" && { actor: actor.trim() }),
    ...(action !== "" && { action }),
    ...(query.trim() !== "" && { query: query.trim() }),
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && (start === undefined || end > start) && { to: end }),
  };
}

/** When a day begins in the user's time zone, so many days later; undefined for an empty or half-typed one. */
function dayStart(day: string, later: number): number | undefined {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const at = new Date(year, month - 1, date + later).getTime();
  return day === "" || Number.isNaN(at) || year < 1970 ? undefined : at;
}

function Filters({ filter, onChange }: { readonly filter: Filter; readonly onChange: (filter: Filter) => void }) {
  const { t } = useTranslation("operatorAudit");
  const actions = t("action", { returnObjects: true });
  const field = (name: keyof Filter) => ({
    value: filter[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => onChange({ ...filter, [name]: event.currentTarget.value }),
    maxLength: TEXT_MAX,
    flex: "1 1 10rem",
    maw: { base: "100%", sm: 240 },
  });
  return (
    <Group gap="sm" align="flex-end" role="search">
      <TextInput
        {...field("actor")}
        label={t("who")}
        placeholder={t("whoHint")}
        autoComplete="off"
        spellCheck={false}
      />
      <ListFilter
        hasLabel
        label={t("what")}
        everyLabel={t("everyAction")}
        options={Object.entries(actions).map(([value, label]) => ({ value, label }))}
        value={filter.action}
        onChange={(action) => onChange({ ...filter, action })}
      />
      <TextInput {...field("from")} label={t("from")} type="date" />
      <TextInput {...field("to")} label={t("to")} type="date" />
      <TextInput {...field("query")} type="search" label={t("text")} placeholder={t("textHint")} />
    </Group>
  );
}

function Downloads({ query }: { readonly query: AuditQuery }) {
  const { t } = useTranslation("operatorAudit");
  const admin = useAdmin();
  const { mayAnywhere } = useAdminRights();
  const { run, isRunning, error } = useAdminChange((format: AuditFormat) => admin.exportAudit(format, query), [], true);
  async function download(format: AuditFormat) {
    const file = await run(format);
    if (file) saveFile(`gatehouse-audit.${format}`, file);
  }
  if (!mayAnywhere("exports")) return null;
  return (
    <Group gap="xs" role="group" aria-label={t("download")}>
      <Hint aria-hidden>{t("download")}</Hint>
      {FORMATS.map((format) => (
        <SmallButton
          key={format}
          text={format.toUpperCase()}
          name={t("downloadName", { format: format.toUpperCase() })}
          loading={isRunning}
          onClick={() => void download(format)}
        />
      ))}
      <FormError error={error} />
    </Group>
  );
}

/** The name of what was changed: of a webhook, and of what is gone, as the entry has it. */
function useNames(): (entry: AuditEntryResource) => string {
  const { nameOf } = useServerNames();
  const labelOf = useTargetNames();
  return useCallback(
    ({ target, details }) => {
      const { name, label = name } = { ...toRecord(details.before), ...toRecord(details.after) };
      return nameOf(target) ?? labelOf(target) ?? (typeof label === "string" ? label : target);
    },
    [nameOf, labelOf],
  );
}

function useActionNames(): (action: string) => string {
  const translate = useLooseTexts();
  return (action) => translate(`operatorAudit:action.${action}`, action);
}

function ActionBadge({ action }: { readonly action: string }) {
  const nameAction = useActionNames();
  const colour = ACTION_COLOURS.find(([shape]) => shape.test(action))?.[1] ?? "blue";
  return <Badge color={colour}>{nameAction(action)}</Badge>;
}

function useEntryColumns(
  nameOf: (entry: AuditEntryResource) => string,
  onDetails: (entry: AuditEntryResource) => void,
): readonly ShownColumn<AuditEntryResource>[] {
  const { t } = useTranslation("operatorAudit");
  return useMemo(
    () => [
      {
        id: "at",
        title: t("when"),
        readValue: ({ at }) => at,
        cell: ({ at }) => <When at={at} />,
        width: "13rem",
        phone: "side",
      },
      makeColumn("who", t("who"), "name", ({ actor }) => nameActor(actor, t), { width: "14%", phone: "line" }),
      {
        id: "what",
        title: t("what"),
        readValue: ({ action }) => action,
        cell: ({ action }) => <ActionBadge action={action} />,
        width: "13rem",
        phone: "main",
      },
      {
        id: "target",
        title: t("target"),
        readValue: nameOf,
        cell: (entry) => (
          <Anchor component="button" type="button" size="sm" onClick={() => onDetails(entry)}>
            <NameText text={nameOf(entry)} />
          </Anchor>
        ),
        width: "20%",
        phone: "line",
      },
      {
        id: "changes",
        title: t("changes"),
        readValue: () => undefined,
        cell: ({ details }) => <ChangesLine before={toRecord(details.before)} after={toRecord(details.after)} />,
        phone: "tap",
      },
    ],
    [t, nameOf, onDetails],
  );
}

/** On a phone there is room only for how long ago it was. */
function When({ at }: { readonly at: number }) {
  const format = useFormat();
  return use(BriefContext) ? <Ago at={at} /> : <span className="numbers">{format.dateTime(at)}</span>;
}

function keyOfEntry({ id }: AuditEntryResource): string {
  return id;
}

function nameActor({ kind, id, name }: AuditEntryResource["actor"], t: TFunction<"operatorAudit">): string {
  if (kind === "system") return "Gatehouse";
  return kind === "master" ? t("masterKey") : name || id;
}

function EntryDetails({ entry }: { readonly entry: AuditEntryResource }) {
  const { t } = useTranslation("operatorAudit");
  const format = useFormat();
  const { action, actor, target, at, details } = entry;
  const describeActor = ({ kind, id, name, address }: AuditEntryResource["actor"]) => {
    if (kind === "system") return t("byGatehouse");
    return kind === "master" ? t("by", { fingerprint: id, address }) : t("byName", { name: name || id, address });
  };
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <ActionBadge action={action} />
        <Hint className="numbers">{format.dateTime(at)}</Hint>
        <Hint className="untrusted">{describeActor(actor)}</Hint>
      </Group>
      <Group gap={4}>
        {target.startsWith("hook_") ? (
          <Anchor href={hrefOf(`webhooks/${target}`)} size="sm" className="untrusted">
            {target}
          </Anchor>
        ) : (
          <Hint className="untrusted">{target}</Hint>
        )}
        <CopyButton value={target} label={target} />
      </Group>
      <Changes before={toRecord(details.before)} after={toRecord(details.after)} />
    </Stack>
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** What was changed, and what is only stated. */
function useChanges(before: Fields, after: Fields) {
  const translate = useLooseTexts();
  const { describeReason } = useProblemWords();
  const hasBoth = Object.keys(before).length > 0 && Object.keys(after).length > 0;
  const changed = hasBoth ? Object.keys(before) : [];
  const { disabled_code = null, ...fields } = { ...before, ...after } as Fields & Partial<DisabledFields>;
  const { disabled_reason = null } = fields;
  const reason = describeReason({ disabled_code, disabled_reason });
  const said = { ...fields, ...(reason !== undefined && { disabled_reason: reason }) };
  const stated = Object.entries(said).filter(([field]) => !changed.includes(field));
  return {
    changed,
    stated,
    nameField: (field: string) =>
      translate([`operator:fields.${field}`, `operatorServers:alerts.rule.${field}`], field),
  };
}

/** In one line, which is cut where the room ends. */
function ChangesLine({ before, after }: { readonly before: Fields; readonly after: Fields }) {
  const { changed, stated, nameField } = useChanges(before, after);
  const parts = [
    ...changed.map((field) => (
      <Fragment key={field}>
        {nameField(field)}: <FieldValue field={field} value={before[field]} /> →{" "}
        <FieldValue field={field} value={after[field]} />
      </Fragment>
    )),
    ...stated.map(([field, value]) => (
      <Fragment key={field}>
        {nameField(field)}: <FieldValue field={field} value={value} />
      </Fragment>
    )),
  ];
  if (parts.length === 0) return null;
  return <span className="cut-text">{parts.flatMap((part, index) => (index === 0 ? [part] : [" · ", part]))}</span>;
}

/** What there was before, with what became of it, in a table. What is only stated is a plain list. */
function Changes({ before, after }: { readonly before: Fields; readonly after: Fields }) {
  const { t } = useTranslation("operatorAudit");
  const { changed, stated, nameField } = useChanges(before, after);
  return (
    <>
      {changed.length > 0 && (
        <PlainTable
          label={t("list")}
          titles={[t("field"), t("before"), t("after")]}
          rows={changed.map((field) => [
            nameField(field),
            <FieldValue key="before" field={field} value={before[field]} />,
            <FieldValue key="after" field={field} value={after[field]} />,
          ])}
        />
      )}
      {stated.length > 0 && (
        <Facts
          facts={stated.map(([field, value]) => [nameField(field), <FieldValue key={field} {...{ field, value }} />])}
        />
      )}
    </>
  );
}

function toRecord(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
