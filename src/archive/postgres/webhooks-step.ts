// The tables of webhooks in PostgreSQL: one step of its schema.

/** Ids sort as in SQLite, so that rows that were moved can be compared in their order. */
export const WEBHOOKS_STEP = `
  CREATE TABLE gatehouse_webhooks (
    webhook_id text COLLATE "C" PRIMARY KEY,
    ledger bigint NOT NULL,
    created_at bigint NOT NULL,
    label text NOT NULL,
    format text NOT NULL,
    types text,
    language text NOT NULL,
    show_join_key boolean NOT NULL,
    is_enabled boolean NOT NULL,
    sealed_url text NOT NULL,
    shown_url text NOT NULL,
    place_number bigint NOT NULL,
    place_mark bigint NOT NULL,
    last_success_at bigint,
    last_failure_at bigint,
    first_failure_at bigint,
    failures bigint NOT NULL,
    refusals bigint NOT NULL,
    next_attempt_at bigint,
    disabled_reason text,
    message text,
    sealed_secret text NOT NULL,
    sealed_old_secret text,
    old_secret_until bigint
  );
  CREATE INDEX gatehouse_webhooks_by_ledger ON gatehouse_webhooks (ledger);

  -- The last attempts of each webhook.
  CREATE TABLE gatehouse_deliveries (
    ledger bigint NOT NULL,
    webhook_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    event_ids text NOT NULL,
    status bigint,
    duration_ms bigint NOT NULL,
    error text,
    sealed_answer text,
    PRIMARY KEY (ledger, webhook_id, number)
  );

  -- Counts the events of some types after a place without reading the others.
  CREATE INDEX gatehouse_events_by_kind ON gatehouse_events (ledger, kind, number) WHERE NOT is_backfill;
`;
