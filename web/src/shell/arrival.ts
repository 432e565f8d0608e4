/** The ticket that the page was opened with, taken before the router reads the address. */
import { takeTicket } from './ticket.ts';

export const ticket = takeTicket(window.location, window.history);
