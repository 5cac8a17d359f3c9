// The values of the API's fields as operators read them, with the names of servers, keys and people for their ids; numbers with
// their labels, or many in a table; and what the code of a refusal means.
import { Code, Group, Paper, Table, Text } from "@mantine/core";
import { Fragment, type ReactNode, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Ability } from "../../../core/keys/rights.ts";
import { SECTIONS } from "../../../core/sections.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import { readAllPages } from "../../api/request.ts";
import { TableFrame } from "../../parts/table/table-toolbar.tsx";
import { CopyButton, NameText } from "../../parts/text/game-text.tsx";
import { useAdmin, useAdminQuery, useAdminRights } from "../../state/session/use-admin.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { useLooseTexts } from "./form.tsx";
import { useTypeNames } from "./webhooks/webhook-words.tsx";

/** Where lists have names for their items. */
const LISTED: Readonly<Record<string, string>> = {
  sections: "status:sections",
  may: "operatorPeople:ability",
  hide: "operatorPeople:hidden",
};

function describeServerRole(value: unknown, nameOf: (serverId: string) => string | undefined): string {
  const { server_id: id = "", role = "" } = value as { readonly server_id?: string; readonly role?: string };
  return `${role}: ${nameOf(id) ?? id}`;
}

/** The characters of a value that are shown at once; a button shows the rest. */
const VALUE_MAX = 1_000;

export function FieldValue(props: {
  readonly field: string;
  readonly value: unknown;
  /** The text for all sections or commands. */
  readonly everything?: string;
}) {
  const { t } = useTranslation("operator");
  const translate = useLooseTexts();
  const format = useFormat();
  const { nameOf } = useServerNames();
  const { nameTypes } = useTypeNames();
  const { field, value, everything = t("everything") } = props;
  const nameOne = (list: string, name: unknown) => {
    if (list === "servers") return describeServerRole(name, nameOf);
    const key = LISTED[list];
    return key === undefined ? String(name) : translate(`${key}.${name}`, String(name));
  };
  // Nothing means something in many fields: a key without addresses may be used from anywhere.
  const nothing = translate([`operator:absent.${field}`, "operator:nothing"]);
  if (value === undefined || value === null) return nothing;
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (typeof value === "number") return /_(?:at|until)$/.test(field) ? format.dateTime(value) : format.number(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return nothing;
    if (field === "sections" && value.length === SECTIONS.length) return everything;
    if (field === "commands" && value.includes("*")) return everything;
    if (field === "types") return nameTypes(value.map(String));
    const names = value.map((name) => nameOne(field, name));
    return <NameText text={names.join(", ")} max={VALUE_MAX} />;
  }
  // The key itself is never told.
  if (field === "server_key") return t("setAnew");
  if (typeof value !== "string") {
    // The rule of an alert, or the public status.
    const parts = Object.entries(value as object).map(([name, part]) => {
      const keys = [`operatorServers:alerts.field.${name}`, `operator:fields.${name}`];
      return `${translate(keys, name)}: ${typeof part === "boolean" ? t(part ? "yes" : "no") : part}`;
    });
    return <NameText text={parts.join(", ")} max={VALUE_MAX} />;
  }
  if (field === "format" || field === "language") return translate(`operatorWebhooks:${field}.${value}`, value);
  return <NameText text={(field === "server_id" && nameOf(value)) || value} max={VALUE_MAX} />;
}

/** Names and values in two columns. */
export function Facts({ facts }: { readonly facts: readonly (readonly [label: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([label, value]) => (
        <Fragment key={label}>
          <dt>{label}</dt>
          <dd className="untrusted">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

export function CopiedId({ id, label }: { readonly id: string; readonly label: string }) {
  return (
    <Group gap={4}>
      <Code>{id}</Code>
      <CopyButton value={id} label={label} />
    </Group>
  );
}

type ServerNames = {
  readonly servers: readonly ServerResource[];
  readonly nameOf: (serverId: string | null) => string | undefined;
  readonly isLoading: boolean;
};

const NO_SERVERS: readonly ServerResource[] = [];
/** Made once for each list, because every value in the audit asks for it. */
const namesOfList = new WeakMap<readonly ServerResource[], ReadonlyMap<string, string>>();

function nameServers(servers: readonly ServerResource[]): ReadonlyMap<string, string> {
  const names = namesOfList.get(servers) ?? new Map(servers.map(({ server_id: id, name }) => [id, name]));
  namesOfList.set(servers, names);
  return names;
}

/** With `ability`, the servers are those on which the user has it; every server has its name. */
export function useServerNames(ability?: Ability): ServerNames {
  const admin = useAdmin();
  const { may } = useAdminRights();
  const { value, isLoading } = useAdminQuery(["servers", "names"], () => readAllPages(admin.listServers));
  return useMemo(() => {
    const all = value ?? NO_SERVERS;
    const names = nameServers(all);
    const servers = ability === undefined ? all : all.filter(({ server_id: id }) => may(ability, id));
    return { servers, nameOf: (id) => (id === null ? undefined : names.get(id)), isLoading };
  }, [value, isLoading, ability, may]);
}

/** Finds the label of a key or the name of a person; undefined when it is not loaded. */
export function useTargetNames(): (id: string) => string | undefined {
  const admin = useAdmin();
  const { mayAnywhere } = useAdminRights();
  const readKeys = () => readAllPages(admin.listKeys);
  const readPeople = () => readAllPages(admin.listPeople);
  const { value: keys } = useAdminQuery(["keys", "labels"], readKeys, undefined, mayAnywhere("keys"));
  const { value: people } = useAdminQuery(["people", "names"], readPeople, undefined, mayAnywhere("people"));
  return useMemo(() => {
    const names = new Map([
      ...(keys?.map(({ key_id: id, label }) => [id, label] as const) ?? []),
      ...(people?.map(({ person_id: id, name }) => [id, name] as const) ?? []),
    ]);
    // A person is a caller of each server by an id with that of the server.
    return (id) => names.get(id.replace(/@.*/s, ""));
  }, [keys, people]);
}

/** Numbers for operators: one with its label, or many in a table; and what the code of a refusal means. */
export function Figure(props: {
  readonly label: string;
  readonly note?: string | undefined;
  /** What to do about a number that needs attention. */
  readonly todo?: string | undefined;
  /** Marks a number that needs attention. */
  readonly isBad?: boolean | undefined;
  readonly children: ReactNode;
}) {
  return (
    <Paper withBorder p="sm" className={props.isBad ? "has-problem" : undefined}>
      <Text size="sm" c="dimmed">
        {props.label}
      </Text>
      <Text component="div" size="xl" fw={650} className="numbers">
        {props.children}
      </Text>
      {props.note !== undefined && (
        <Text size="xs" c="dimmed">
          {props.note}
        </Text>
      )}
      {props.isBad && props.todo !== undefined && (
        <Text size="xs" fw={600}>
          {props.todo}
        </Text>
      )}
    </Paper>
  );
}

/** A table that is not sorted. The first cell names the row. */
export function PlainTable(props: {
  readonly label: string;
  /** A single title stands above two columns. */
  readonly titles: readonly string[];
  readonly rows: readonly (readonly [string, ...ReactNode[]])[];
  /** Whether the other columns have numbers. */
  readonly isNumeric?: boolean;
  /** Instead of rows when there are none. */
  readonly empty?: string;
}) {
  const { titles, rows, isNumeric = false } = props;
  const colSpan = titles.length === 1 ? 2 : undefined;
  const align = (column: number) => (isNumeric && column > 0 ? "right" : undefined);
  return (
    <TableFrame label={props.label}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {titles.map((title, column) => (
              <Table.Th key={title} colSpan={colSpan} ta={align(column)}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className={isNumeric ? "numbers" : undefined}>
          {rows.length === 0 && (
            <Table.Tr>
              <Table.Td colSpan={colSpan}>{props.empty}</Table.Td>
            </Table.Tr>
          )}
          {rows.map(([name, ...cells]) => (
            <Table.Tr key={name}>
              {isNumeric ? <Table.Td>{name}</Table.Td> : <Table.Th scope="row">{name}</Table.Th>}
              {cells.map((cell, column) => (
                <Table.Td key={titles[column + 1] ?? ""} ta={align(column + 1)}>
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

export function useRefusalNames(): (code: number) => string {
  const translate = useLooseTexts();
  return (code) => `${code}: ${translate([`operatorKeys:code.${code}`, "operatorKeys:code.other"])}`;
}
