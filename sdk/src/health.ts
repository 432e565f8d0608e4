/** Health of the service, as the action GetHealth gives it, and the stream of changes with `health`. */

export interface ServiceHealth {
  capacity: {
    free_memory_bytes: number;
    reserve_memory_bytes: number;
    free_disk_bytes: number;
    reserve_disk_bytes: number;
    free_slots: number;
    gpus: number;
    free_gpus: number;
  };
  sandboxes: { total: number; started: number; paused: number };
  /** Of warm sandboxes: those that are ready, and the bounds of their number. */
  pool: { ready: number; min: number; max: number };
  /** Of the last half hour, oldest first; the last one is of this moment. */
  samples: ServiceHealthSample[];
  /** null where nothing can examine the host; in the stream also before the first findings. */
  doctor: { checked_at: string; findings: DoctorFinding[] } | null;
}

export interface ServiceHealthSample {
  time: string;
  free_memory_bytes: number;
  free_disk_bytes: number;
  /** Memory of the service itself. */
  resident_bytes: number;
  /** Delay of the event loop, 99th percentile. */
  loop_delay_ms: number;
}

export interface DoctorFinding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  found: string;
  advice: string | null;
}
