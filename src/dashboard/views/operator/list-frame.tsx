// The frame of every operator list: it is loading, failed or empty, or shows its items and a "load more" button. Above
// it are its filters; the cells of its columns follow from their values.
import { Alert, Button, Group, NativeSelect, Stack, Text, TextInput, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { ServerResource } from "../../../core/wire/server.ts";
import { Icon } from "../../parts/icon.tsx";
import { EmptyState, FailedState, LoadingState } from "../../parts/states.tsx";
import { SortedTable, type SortedTableProps } from "../../parts/table/sorted-table.tsx";
import type { ShownColumn } from "../../parts/table/table-columns.ts";
import { markInvisible, NameText } from "../../parts/text/game-text.tsx";
import { Ago, NowProvider } from "../../parts/text/time.tsx";
import type { PagedList } from "../../state/session/use-admin.ts";
import { useFormat } from "../../state/time/use-format.ts";

type FrameProps<T> = {
  readonly list: PagedList<T>;
  readonly label: string;
  readonly empty: { readonly title: string; readonly text?: string };
};

/** The items as cards. */
export function ListFrame<T>(props: FrameProps<T> & { readonly children: (item: T) => ReactNode }) {
  return (
    <PagedFrame {...props}>
      {() => (
        <Stack gap="xs" component="ul" className="plain-list" aria-label={props.label}>
          {props.list.items.map(props.children)}
        </Stack>
      )}
    </PagedFrame>
  );
}

/** The items as a table. `writeCount` says how many are shown. The toolbar stays while there is nothing to show. */
export function PagedTable<T>({
  list,
  empty,
  writeCount,
  ...table
}: FrameProps<T> &
  Omit<SortedTableProps<T>, "rows" | "isPart" | "empty"> & { readonly writeCount?: (count: number) => string }) {
  const shown = writeCount && !list.isLoading && `${writeCount(list.items.length)}${list.hasMore ? "+" : ""}`;
  return (
    <>
      {writeCount && <VisuallyHidden role="status">{shown}</VisuallyHidden>}
      <NowProvider>
        <PagedFrame list={list} empty={empty} hasToolbar={table.toolbar !== undefined}>
          {(nothing) => (
            <SortedTable {...table} rows={list.items} isPart={list.hasMore} empty={nothing}>
              {writeCount && !nothing && (
                <Text size="sm" c="dimmed" aria-hidden>
                  {shown}
                </Text>
              )}
            </SortedTable>
          )}
        </PagedFrame>
      </NowProvider>
    </>
  );
}

function PagedFrame<T>(
  props: Pick<FrameProps<T>, "list" | "empty"> & {
    /** Whether the children are also shown when there is nothing, and say so. */
    readonly hasToolbar?: boolean;
    readonly children: (nothing: ReactNode) => ReactNode;
  },
) {
  const { t } = useTranslation(["shell", "status"]);
  const { list, empty } = props;
  const nothing = list.isLoading ? (
    <LoadingState />
  ) : list.items.length > 0 ? undefined : list.error ? (
    <FailedState error={list.error} onRetry={list.refresh} />
  ) : (
    <EmptyState title={empty.title}>{empty.text}</EmptyState>
  );
  return (
    <Stack gap="sm">
      {list.error && !nothing && (
        <Alert color="orange" icon={<Icon name="warning" />} title={t("status:title.failed")}>
          {t("status:lastKnown")}
        </Alert>
      )}
      {nothing && !props.hasToolbar ? nothing : props.children(nothing)}
      {list.hasMore && (
        <Group justify="center">
          <Button variant="light" onClick={list.loadMore} loading={list.isLoadingMore}>
            {t("shell:loadMore")}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

type Option<V> = { readonly value: V; readonly label: string };

/** Selects one option or, with "", all of them. */
export function ListFilter<V extends string>(props: {
  readonly label: string;
  readonly everyLabel: string;
  readonly options: readonly Option<V>[];
  readonly value: V | "";
  readonly onChange: (value: V | "") => void;
  readonly maxWidth?: number;
  /** Whether the label is seen; otherwise what is chosen speaks for itself. */
  readonly hasLabel?: boolean;
}) {
  const { maxWidth = 240, label, hasLabel = false } = props;
  return (
    <NativeSelect
      {...(hasLabel ? { label } : { "aria-label": label })}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value as V | "")}
      data={[{ value: "", label: props.everyLabel }, ...props.options]}
      flex="1 1 9rem"
      maw={{ base: "100%", sm: maxWidth }}
    />
  );
}

export function SearchFilter(props: {
  readonly placeholder: string;
  readonly maxLength: number;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error?: string | false;
}) {
  const { t } = useTranslation("shell");
  return (
    <TextInput
      {...props}
      type="search"
      aria-label={t("search")}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      leftSection={<Icon name="search" size={16} />}
      flex="1 1 11rem"
      maw={{ base: "100%", sm: 320 }}
    />
  );
}

export function ServerFilter(props: {
  readonly servers: readonly ServerResource[];
  readonly value: string;
  readonly onChange: (serverId: string) => void;
}) {
  const { t } = useTranslation("operator");
  const options = listServerOptions(props.servers);
  return (
    <ListFilter
      {...props}
      options={options}
      label={t("fields.server_id")}
      everyLabel={t("everyServer")}
      maxWidth={320}
    />
  );
}

export function listServerOptions(servers: readonly ServerResource[]): readonly Option<string>[] {
  return servers.map(({ server_id: value, name }) => ({ value, label: markInvisible(name) }));
}

const CELLS = {
  text: (value: string) => value,
  name: (value: string) => <NameText text={value} />,
  /** Longer texts are cut off. */
  cut: (value: string) => <span className="cut-text untrusted">{value}</span>,
  date: (value: number) => <DateCell at={value} />,
  ago: (value: number) => <Ago at={value} />,
} satisfies Record<string, ((value: string) => ReactNode) | ((value: number) => ReactNode)>;

type Layout<Row> = Pick<ShownColumn<Row>, "width" | "phone" | "isHiddenAtFirst"> & {
  /** What a cell without a value shows instead of a dash. */
  readonly nothing?: string;
};

export function makeColumn<Row, K extends keyof typeof CELLS>(
  id: string,
  title: string,
  kind: K,
  readValue: (row: Row) => Parameters<(typeof CELLS)[K]>[0] | undefined,
  { nothing, ...layout }: Layout<Row> = {},
): ShownColumn<Row> {
  const show = CELLS[kind] as (value: string | number) => ReactNode;
  function cell(row: Row) {
    const value = readValue(row);
    if (value !== undefined) return show(value);
    return nothing === undefined ? undefined : <span className="no-value">{nothing}</span>;
  }
  return { id, title, readValue, cell, ...layout };
}

/** What can be done with the resource of a row. */
export function makeButtons<Row>(title: string, width: string, cell: (row: Row) => ReactNode): ShownColumn<Row> {
  return { id: "buttons", title, readValue: () => undefined, cell, width, isButtons: true };
}

function DateCell({ at }: { readonly at: number }) {
  return <span className="numbers">{useFormat().dateTime(at)}</span>;
}
