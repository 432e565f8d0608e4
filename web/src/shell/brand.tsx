/** The mark and the name. */
import icon from '../icon.svg';
import classes from './shell.module.css';

export function Brand() {
  return (
    <span className={classes['brand']}>
      <img src={icon} alt="" width={22} height={22} />
      Sandhaven
    </span>
  );
}
