"""The orders of orders.jsonl, added up by region, and charted by region and day."""

import json
from decimal import Decimal
import matplotlib.pyplot as plt
import pandas as pd

def value(of):
    """Out of Extended JSON."""
    if not isinstance(of, dict):
        return of
    (kind, text), = of.items()
    return pd.Timestamp(text) if kind == '$date' else Decimal(text)

with open('orders.jsonl') as lines:
    orders = pd.DataFrame({name: value(of) for name, of in json.loads(line).items()} for line in lines)
orders['total'] = orders['total'].map(lambda total: Decimal(str(total)))
print(orders.groupby('region', dropna=False)['total'].agg(orders='count', revenue='sum').reset_index()
      .to_json(orient='records', default_handler=str))

orders['day'] = orders['created_at'].dt.day
by_day = orders.assign(total=orders['total'].astype(float)).pivot_table(
    index='day', columns='region', values='total', aggfunc='sum', fill_value=0)
by_day.plot.bar(stacked=True, width=0.9, figsize=(10, 5))
plt.title('TITLE')
plt.xlabel('day')
plt.ylabel('revenue')
plt.tight_layout()
plt.show()
