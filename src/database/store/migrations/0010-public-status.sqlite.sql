ALTER TABLE servers ADD COLUMN status_slug TEXT;
ALTER TABLE servers ADD COLUMN status_join_key INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX servers_by_status_slug ON servers (status_slug) WHERE status_slug IS NOT NULL;
