/**
 * Triggers of PostgreSQL that queue events for webhooks, in the transaction of the change that they are about. They lock
 * the webhook's row, so that one removed at this moment is left out instead of failing the change.
 */
import { heard, hearsOf } from '../sql/webhooks.ts';
import { DATABASE_NOW } from './sql.ts';

const { sandbox, snapshot, waysIn } = heard;

export const webhookTriggers = `
  CREATE OR REPLACE FUNCTION sandhaven_queue_event(about text, event text, fields json) RETURNS void
  LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO webhook_deliveries (id, webhook_id, type, data, created_at, state, attempts, due_at)
      SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), webhooks.id, event, fields::text,
        ${DATABASE_NOW}, 'pending', 0, 0
      FROM webhooks WHERE ${hearsOf('about', 'event')} FOR KEY SHARE OF webhooks;
  END $$;
  CREATE OR REPLACE FUNCTION sandhaven_sandbox_event() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      PERFORM sandhaven_queue_event(OLD.owner_id, 'sandbox.deleted',
        json_build_object(${sandbox.lastFields}));
    ELSE
      PERFORM sandhaven_queue_event(NEW.owner_id, ${sandbox.type},
        json_build_object(${sandbox.fields}));
    END IF;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE FUNCTION sandhaven_snapshot_event() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      PERFORM sandhaven_queue_event(OLD.owner_id, 'snapshot.deleted',
        json_build_object(${snapshot.lastFields}));
    ELSE
      PERFORM sandhaven_queue_event(NEW.owner_id, ${snapshot.type},
        json_build_object(${snapshot.fields}));
    END IF;
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER webhook_sandbox_update AFTER UPDATE OF state, operation, owner_id ON sandboxes
    FOR EACH ROW WHEN (${sandbox.changed}) EXECUTE FUNCTION sandhaven_sandbox_event();
  CREATE OR REPLACE TRIGGER webhook_sandbox_delete AFTER DELETE ON sandboxes
    FOR EACH ROW WHEN (${sandbox.removed}) EXECUTE FUNCTION sandhaven_sandbox_event();
  CREATE OR REPLACE TRIGGER webhook_snapshot_update AFTER UPDATE OF state, owner_id ON snapshots
    FOR EACH ROW WHEN (${snapshot.changed}) EXECUTE FUNCTION sandhaven_snapshot_event();
  CREATE OR REPLACE TRIGGER webhook_snapshot_delete AFTER DELETE ON snapshots
    FOR EACH ROW EXECUTE FUNCTION sandhaven_snapshot_event();
${waysIn.map(wayInTrigger).join('')}`;

function wayInTrigger({ table, kind, made, fields }: (typeof waysIn)[number]): string {
  return `
  CREATE OR REPLACE FUNCTION sandhaven_${kind}_event() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM sandhaven_queue_event(NEW.user_id, 'way_in.made', json_build_object(${fields}));
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER webhook_${kind}_insert AFTER INSERT ON ${table}
    FOR EACH ROW WHEN (${made}) EXECUTE FUNCTION sandhaven_${kind}_event();
`;
}
