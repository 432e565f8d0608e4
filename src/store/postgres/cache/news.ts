/**
 * News of written rows: triggers send them by NOTIFY when a transaction commits, and every service that listens forgets
 * what it has read of the row. PostgreSQL sends none for what was rolled back.
 */
export const NEWS_CHANNEL = 'sandhaven_news';

export type News = { sandbox: string } | 'callers';

/** Uses of keys are left out: they change all the time, and no caller does. */
export const newsTriggers = `
  CREATE OR REPLACE FUNCTION sandhaven_sandbox_news() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('${NEWS_CHANNEL}', 'sandbox ' || CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END);
    RETURN NULL;
  END $$;
  CREATE OR REPLACE FUNCTION sandhaven_caller_news() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('${NEWS_CHANNEL}', 'callers');
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER sandbox_news AFTER INSERT OR DELETE OR UPDATE ON sandboxes
    FOR EACH ROW EXECUTE FUNCTION sandhaven_sandbox_news();
  CREATE OR REPLACE TRIGGER user_news AFTER INSERT OR DELETE OR UPDATE ON users
    FOR EACH STATEMENT EXECUTE FUNCTION sandhaven_caller_news();
  CREATE OR REPLACE TRIGGER key_news AFTER INSERT OR DELETE OR UPDATE OF hash, user_id, expires_at, revoked_at
    ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION sandhaven_caller_news();
`;

export function parseNews(payload: string | undefined): News {
  const sandbox = /^sandbox (\S+)$/.exec(payload ?? '')?.[1];
  return sandbox === undefined ? 'callers' : { sandbox };
}
