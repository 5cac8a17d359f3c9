// The controls around a table or another list: search field, filters, sort order, number of rows, "show more".
import { Button, Group, NativeSelect, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Fragment, type ReactNode, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../icon.tsx";
import { cutText } from "../text/game-text.tsx";
import type { ShownColumn, ShownFilter } from "./table-columns.ts";
import { listOptions, type Sorting } from "./table-rows.ts";

/** How many rows are shown at first, and added by "show more". */
export const ROWS_AT_ONCE = 100;
const OPTION_MAX = 40;

/** Holds the search field and the filters above a table or another list. */
export function Toolbar({ children }: { readonly children: ReactNode }) {
  return (
    <Group gap="xs" role="search" className="toolbar">
      {children}
    </Group>
  );
}

export function SearchField(props: { readonly value: string; readonly onChange: (text: string) => void }) {
  const { t } = useTranslation("shell");
  return (
    <TextInput
      type="search"
      aria-label={t("search")}
      placeholder={t("search")}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      leftSection={<Icon name="search" size={16} />}
      autoComplete="off"
      spellCheck={false}
      maxLength={200}
      className="toolbar-search"
    />
  );
}

/** Shows the number of rows. A screen reader reads it only after `announceOn` has changed, not after every poll. */
export function CountLine({ text, announceOn }: { readonly text: string; readonly announceOn: string }) {
  const [announced, setAnnounced] = useState("");
  const [announcedOn, setAnnouncedOn] = useState(announceOn);
  useEffect(() => {
    if (announcedOn === announceOn) return;
    setAnnouncedOn(announceOn);
    setAnnounced(text);
  }, [announcedOn, announceOn, text]);
  return (
    <>
      <Text size="sm" c="dimmed" className="numbers" data-testid="count">
        {text}
      </Text>
      <VisuallyHidden role="status">{announced}</VisuallyHidden>
    </>
  );
}

export function MoreButton({ left, onClick }: { readonly left: number; readonly onClick: () => void }) {
  const { t } = useTranslation("table");
  if (left <= 0) return null;
  return (
    <Group justify="center">
      <Button variant="default" onClick={onClick}>
        {t("more", { n: Math.min(left, ROWS_AT_ONCE), count: left })}
      </Button>
    </Group>
  );
}

export function FilterField<Row>(props: {
  readonly filter: ShownFilter<Row>;
  readonly rows: readonly Row[];
  readonly value: string;
  readonly onChange: (option: string) => void;
}) {
  const { t, i18n } = useTranslation("table");
  const { filter, rows, value } = props;
  const options = useMemo(() => {
    const named = listOptions(rows, filter, value).map((option) => {
      return { option, name: filter.nameOf?.(option) ?? option };
    });
    // Sorted by the name that the user sees, not by the value of the game.
    const { compare } = new Intl.Collator(i18n.language, { numeric: true });
    return named.sort((a, b) => compare(a.name, b.name));
  }, [rows, filter, value, i18n.language]);
  return (
    <NativeSelect
      aria-label={filter.label}
      value={value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      className="toolbar-choice"
    >
      <option value="">{t("allOf", { filter: filter.label })}</option>
      {options.map(({ option, name }) => (
        <option key={option} value={option}>
          {cutText(name, OPTION_MAX).text}
        </option>
      ))}
    </NativeSelect>
  );
}

export function SortField<Row>(props: {
  readonly columns: readonly ShownColumn<Row>[];
  /** Undefined while the rows have the order of the list. */
  readonly sorting: Sorting | undefined;
  readonly onChange: (sorting: Sorting) => void;
}) {
  const { t } = useTranslation("table");
  const { columns, sorting, onChange } = props;
  return (
    <NativeSelect
      aria-label={t("sortBy")}
      value={sorting ? `${sorting.column} ${sorting.isDescending ? "down" : "up"}` : ""}
      onChange={(event) => {
        const [column = "", direction] = event.currentTarget.value.split(" ");
        if (column !== "") onChange({ column, isDescending: direction === "down" });
      }}
      className="sort-field"
    >
      {!sorting && <option value="">{t("sortBy")}</option>}
      {columns
        .filter(({ isButtons }) => !isButtons)
        .map(({ id, title }) => (
          <Fragment key={id}>
            <option value={`${id} up`}>{t("ascending", { column: title })}</option>
            <option value={`${id} down`}>{t("descending", { column: title })}</option>
          </Fragment>
        ))}
    </NativeSelect>
  );
}

export function TableFrame({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <section className="table-frame framed" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

/** Mantine's breakpoint `sm`: below it the frame hides its navigation behind a burger button. */
const PHONE = "(max-width: 47.99em)";

export function usePhone(): boolean {
  return useMediaQuery(PHONE, false, { getInitialValueInEffect: false });
}
