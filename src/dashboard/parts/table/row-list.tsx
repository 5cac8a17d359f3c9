// The rows of a table on a phone: two lines each, and everything about a row after a tap.
import { UnstyledButton } from "@mantine/core";
import { Fragment, memo, type ReactNode, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../icon.tsx";
import { BriefContext } from "../text/game-text.tsx";
import { type PhonePosition, positionOnPhone, type ShownColumn } from "./table-columns.ts";
import type { KeyedRow } from "./table-rows.ts";
import { MoreButton, ROWS_AT_ONCE } from "./table-toolbar.tsx";

type Attributes = Readonly<Record<`data-${string}`, string | undefined>>;

/** A heading, and the rows below it. */
type Part<Row> = { readonly heading: ReactNode; readonly key: string; readonly rows: readonly KeyedRow<Row>[] };

export function RowList<Row>(props: {
  readonly label: string;
  readonly parts: readonly Part<Row>[];
  readonly columns: readonly ShownColumn<Row>[];
  readonly isGrouped: boolean;
  readonly attributesOf?: ((row: Row) => Attributes) | undefined;
}) {
  const { parts, columns } = props;
  const [shownMax, setShownMax] = useState(ROWS_AT_ONCE);
  const positions = useMemo(() => sortByPosition(columns), [columns]);
  const count = parts.reduce((sum, { rows }) => sum + rows.length, 0);
  let before = 0;
  return (
    <>
      {parts.map(({ key, heading, rows }) => {
        const start = before;
        before += rows.length;
        if (start >= shownMax) return null;
        return (
          <section key={key}>
            {heading}
            <ul className="plain-list framed rows" aria-label={props.label}>
              {rows.slice(0, shownMax - start).map(({ key: rowKey, row }, index) => (
                <Row
                  key={rowKey}
                  row={row}
                  columns={columns}
                  positions={positions}
                  isGrouped={props.isGrouped}
                  position={start + index + 1}
                  count={count}
                  attributes={props.attributesOf?.(row)}
                />
              ))}
            </ul>
          </section>
        );
      })}
      <MoreButton left={count - shownMax} onClick={() => setShownMax(shownMax + ROWS_AT_ONCE)} />
    </>
  );
}

type Positions<Row> = Readonly<Record<PhonePosition, readonly ShownColumn<Row>[]>>;

function sortByPosition<Row>(columns: readonly ShownColumn<Row>[]): Positions<Row> {
  const groups = Map.groupBy(columns, (column) => positionOnPhone(columns, column));
  const at = (position: PhonePosition) => groups.get(position) ?? [];
  return { main: at("main"), line: at("line"), side: at("side"), tap: at("tap") };
}

type RowProps<Row> = {
  readonly row: Row;
  readonly columns: readonly ShownColumn<Row>[];
  readonly positions: Positions<Row>;
  readonly isGrouped: boolean;
  /** Its position among all rows, from 1. */
  readonly position: number;
  readonly count: number;
  readonly attributes: Attributes | undefined;
};

const Row = memo(PlainRow, isSameRow) as typeof PlainRow;

/** For memo. The attributes are a new object for each rendering, and follow from the row. */
export function isSameRow<Props extends object>(before: Props, after: Props): boolean {
  const names = Object.keys(after) as (keyof Props)[];
  return names.every((name) => name === "attributes" || before[name] === after[name]);
}

function PlainRow<Row>(props: RowProps<Row>) {
  const { t } = useTranslation("table");
  const { row, columns, positions, isGrouped } = props;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  // A single column on the right has both lines for itself, such as a time with its age.
  const [first, ...lower] = positions.side;
  const [upper, only] = lower.length > 0 ? [first, undefined] : [undefined, first];
  const show = (column: ShownColumn<Row>) => {
    const cell = column.cell(row, isGrouped);
    return cell === undefined || cell === null ? undefined : (
      <span key={column.id} className="row-item">
        {cell}
      </span>
    );
  };
  const main = positions.main.map(show).filter(Boolean);
  const line = positions.line.map(show).filter(Boolean);
  // The first line is never empty, because it names the row.
  if (main.length === 0) main.push(line.shift());
  return (
    <li className="row" aria-setsize={props.count} aria-posinset={props.position} {...props.attributes}>
      <div className="row-head one-line">
        <BriefContext value={true}>
          <div className="row-texts">
            <div className="row-texts-line">
              <div className="row-main" id={`${id}-main`}>
                {main}
              </div>
              {upper && <div className="row-side">{show(upper)}</div>}
            </div>
            <div className="row-texts-line">
              <div className="row-line">{line}</div>
              {lower.length > 0 && <div className="row-side">{lower.map(show)}</div>}
            </div>
          </div>
          {only && <div className="row-side">{show(only)}</div>}
        </BriefContext>
        <UnstyledButton
          id={`${id}-toggle`}
          className="row-toggle"
          aria-label={t("details")}
          aria-labelledby={`${id}-toggle ${id}-main`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="down" size={16} />
        </UnstyledButton>
      </div>
      {isOpen && (
        <dl className="facts row-fields">
          {columns.map((column) => {
            const cell = column.cell(row, false);
            if (cell === undefined || cell === null) return null;
            if (column.isButtons) return <dd key={column.id}>{cell}</dd>;
            return (
              <Fragment key={column.id}>
                <dt>{column.title}</dt>
                <dd>{cell}</dd>
              </Fragment>
            );
          })}
        </dl>
      )}
    </li>
  );
}
