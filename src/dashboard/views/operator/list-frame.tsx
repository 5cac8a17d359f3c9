// The frame of every operator list: shows that it is loading, failed or empty, or its items and a "load more" button.
import { Alert, Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { SortedTable, type SortedTableProps } from "../../parts/sorted-table.tsx";
import { EmptyState, FailedState, LoadingState } from "../../parts/states.tsx";
import type { PagedList } from "../../state/use-admin.ts";

type FrameProps<T> = {
  readonly list: PagedList<T>;
  readonly label: string;
  readonly empty: { readonly title: string; readonly text?: string };
};

/** The items as cards. */
export function ListFrame<T>(
  props: FrameProps<T> & {
    /** The items to show; all items of the list by default. */
    readonly items?: readonly T[];
    readonly children: (item: T) => ReactNode;
  },
) {
  const { list, items = list.items } = props;
  return (
    <PagedFrame {...props} items={items}>
      <Stack gap="xs" component="ul" className="plain-list" aria-label={props.label}>
        {items.map(props.children)}
      </Stack>
    </PagedFrame>
  );
}

/** The items as a table. */
export function PagedTable<T>({
  list,
  empty,
  ...table
}: FrameProps<T> & Omit<SortedTableProps<T>, "rows" | "isPart" | "empty">) {
  return (
    <PagedFrame list={list} items={list.items} empty={empty}>
      <SortedTable {...table} rows={list.items} isPart={list.hasMore} />
    </PagedFrame>
  );
}

function PagedFrame<T>(props: {
  readonly list: PagedList<T>;
  readonly items: readonly T[];
  readonly empty: FrameProps<T>["empty"];
  readonly children: ReactNode;
}) {
  const { t } = useTranslation(["shell", "status"]);
  const { list } = props;
  if (list.isLoading) return <LoadingState />;
  if (list.error && list.items.length === 0) return <FailedState error={list.error} onRetry={list.refresh} />;
  return (
    <Stack gap="sm">
      {list.error && (
        <Alert color="orange" icon={<Icon name="warning" />} title={t("status:title.failed")}>
          {t("status:lastKnown")}
        </Alert>
      )}
      {props.items.length === 0 ? (
        <EmptyState title={props.empty.title}>{props.empty.text}</EmptyState>
      ) : (
        props.children
      )}
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
