// The view "audit": who changed what, with the values before and after, filters and a download.
import { ActionIcon, Anchor, Badge, Group, Paper, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ChangeEvent, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import type { AuditEntryResource } from "../../../../core/wire/audit.ts";
import type { AuditFormat, AuditQuery } from "../../../api/admin.ts";
import { Icon } from "../../../parts/icon.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { CopyButton, NameText } from "../../../parts/text/game-text.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { hrefOf } from "../../../state/route.ts";
import { useAdmin, useAdminChange, useAdminRights, usePagedList } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { Facts, FieldValue, PlainTable, useServerNames, useTargetNames } from "../fields.tsx";
import { FormError, useLooseTexts } from "../form.tsx";
import { Hint, SmallButton } from "../layout.tsx";
import { ListFilter, ListFrame } from "../list-frame.tsx";
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
    <ViewPage isTouch title={t("title")}>
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
  const { nameOf } = useServerNames();
  const labelOf = useTargetNames();
  return (
    <ViewPage
      isTouch
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
      <Downloads query={query} />
      <ListFrame list={list} label={t("list")} empty={{ title: t(isFiltered ? "noMatch" : "empty") }}>
        {(entry) => <EntryRow key={entry.id} entry={entry} name={nameOf(entry.target) ?? labelOf(entry.target)} />}
      </ListFrame>
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

function EntryRow(props: {
  readonly entry: AuditEntryResource;
  /** The name of the changed server, key or person, if it still exists. */
  readonly name: string | undefined;
}) {
  const { t } = useTranslation("operatorAudit");
  const translate = useLooseTexts();
  const format = useFormat();
  const { action, actor, target, at, details } = props.entry;
  const title = translate(`operatorAudit:action.${action}`, "");
  const colour = ACTION_COLOURS.find(([shape]) => shape.test(action))?.[1] ?? "blue";
  const describeActor = ({ kind, id, name, address }: AuditEntryResource["actor"]) => {
    if (kind === "system") return t("byGatehouse");
    return kind === "master" ? t("by", { fingerprint: id, address }) : t("byName", { name: name || id, address });
  };
  return (
    <Paper component="li" withBorder p="sm">
      <Stack gap={6}>
        <Group gap="xs" justify="space-between">
          <Group gap="xs" miw={0}>
            <Badge color={title === "" ? "gray" : colour} size="lg">
              {title || action}
            </Badge>
            {props.name !== undefined && (
              <Text fw={650} miw={0}>
                <NameText text={props.name} />
              </Text>
            )}
          </Group>
          <Hint className="numbers">{format.dateTime(at)}</Hint>
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
          <Hint className="untrusted">{describeActor(actor)}</Hint>
        </Group>
        <Changes before={toRecord(details.before)} after={toRecord(details.after)} />
      </Stack>
    </Paper>
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** What there was before, with what became of it, in a table. What is only stated is a plain list. */
function Changes({ before, after }: { readonly before: Fields; readonly after: Fields }) {
  const { t } = useTranslation("operatorAudit");
  const translate = useLooseTexts();
  const nameField = (field: string) => translate(`operator:fields.${field}`, field);
  const hasBoth = Object.keys(before).length > 0 && Object.keys(after).length > 0;
  const changed = hasBoth ? Object.keys(before) : [];
  const { describeReason } = useProblemWords();
  const { disabled_code = null, ...fields } = { ...before, ...after } as Fields & Partial<DisabledFields>;
  const { disabled_reason = null } = fields;
  const reason = describeReason({ disabled_code, disabled_reason });
  const said = { ...fields, ...(reason !== undefined && { disabled_reason: reason }) };
  const stated = Object.entries(said).filter(([field]) => !changed.includes(field));
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
