/** Roles: an admin manages the service and its users; a member has sandboxes; a viewer sees, and changes nothing. */
export const roles = ['admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];
