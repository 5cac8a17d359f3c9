// Where the user chooses the period of a question: one of several, or two days.
import { Chip, Group, TextInput, VisuallyHidden } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { DAY_MS } from "../../../core/durations.ts";
import { type PeriodChoice, type PeriodName, resolvePeriod, writeDay } from "../../state/history/period.ts";
import { useNow } from "../../state/time/use-format.ts";

/** `hour` is no period of a question: views that offer it show what the page itself has seen. */
export type Choice = PeriodChoice | { readonly name: "hour" };

const UPDATE_MS = 60_000;
const WEEK_MS = 7 * DAY_MS;

export function PeriodField<C extends Choice>(props: {
  readonly offered: readonly Exclude<C["name"], "dates" | "part">[];
  readonly choice: C;
  readonly onChange: (choice: C) => void;
}) {
  const { t } = useTranslation("history");
  const now = useNow(UPDATE_MS);
  const { offered, choice, onChange } = props;
  const dates: PeriodChoice | undefined = choice.name === "dates" ? choice : undefined;

  function choose(name: string): void {
    if (name !== "dates") onChange({ name } as C);
    // A week to begin with, so that the chart does not go away while the days are typed.
    else onChange({ name, first: writeDay(Date.now() - WEEK_MS), last: writeDay(Date.now()) } as C);
  }

  return (
    <Group gap="sm" align="flex-start">
      <fieldset className="chips">
        <VisuallyHidden component="legend">{t("period.label")}</VisuallyHidden>
        <Chip.Group value={choice.name} onChange={(name) => choose(String(name))}>
          <Group gap={6}>
            {[...offered, "dates" as const].map((name) => (
              <Chip key={name} value={name} variant="light" size="sm">
                {t(`period.${name as PeriodName | "hour" | "dates"}`)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </fieldset>
      {dates?.name === "dates" && (
        <DateFields
          ends={dates}
          now={now}
          onChange={({ first, last }) => onChange({ name: "dates", first, last } as C)}
        />
      )}
    </Group>
  );
}

type Ends = { readonly first: string; readonly last: string };

function DateFields(props: { readonly ends: Ends; readonly now: number; readonly onChange: (ends: Ends) => void }) {
  const { t } = useTranslation("history");
  const { ends, now, onChange } = props;
  const period = resolvePeriod({ ...ends, name: "dates" }, now);
  const problem = typeof period === "string" ? t(`period.problem.${period}`) : undefined;
  return (
    <Group gap="xs" align="flex-start">
      {(["first", "last"] as const).map((end) => (
        <TextInput
          key={end}
          type="date"
          size="xs"
          label={t(`period.${end}`)}
          value={ends[end]}
          max={writeDay(now)}
          onChange={({ currentTarget: { value } }) => onChange({ ...ends, [end]: value })}
          error={end === "first" ? problem : problem !== undefined}
        />
      ))}
    </Group>
  );
}
