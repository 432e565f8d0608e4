/**
 * The fence in the database: a row that is marked with a replica which was given up changes only by a new generation,
 * which a taking-over replica sets. A late commit of the old one finds no row. The lock on the replica's row makes the
 * giving up wait for commits under way.
 */
import type pg from 'pg';

/** SQLSTATE of a write by a replica that was given up; of a class that no other error has. */
export const GIVEN_UP = 'SH001';

const fence = `
  CREATE OR REPLACE FUNCTION sandhaven_fence() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'DELETE' AND NEW.holder IS NOT NULL THEN
      PERFORM 1 FROM replicas WHERE id = NEW.holder FOR KEY SHARE;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'this replica was given up' USING ERRCODE = '${GIVEN_UP}';
      END IF;
    END IF;
    IF TG_OP = 'INSERT' OR OLD.holder IS NULL OR (TG_OP = 'UPDATE' AND NEW.generation <> OLD.generation) THEN
      RETURN NEW;
    END IF;
    PERFORM 1 FROM replicas WHERE id = OLD.holder FOR KEY SHARE;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END $$;
  CREATE OR REPLACE TRIGGER fence_insert BEFORE INSERT ON sandboxes
    FOR EACH ROW WHEN (NEW.holder IS NOT NULL) EXECUTE FUNCTION sandhaven_fence();
  CREATE OR REPLACE TRIGGER fence_update BEFORE UPDATE ON sandboxes
    FOR EACH ROW WHEN (OLD.holder IS NOT NULL OR NEW.holder IS NOT NULL) EXECUTE FUNCTION sandhaven_fence();
  CREATE OR REPLACE TRIGGER fence_delete BEFORE DELETE ON sandboxes
    FOR EACH ROW WHEN (OLD.holder IS NOT NULL) EXECUTE FUNCTION sandhaven_fence();
`;

/** Makes the triggers, in the transaction of the last migration. */
export async function createFence(connection: pg.ClientBase): Promise<void> {
  await connection.query(fence);
}
