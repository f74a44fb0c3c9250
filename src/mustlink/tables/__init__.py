"""Tables in and out: reading files, turning columns into features, writing results whole or not at all."""

from __future__ import annotations

from mustlink.tables._binary import BinaryTable, read_binary
from mustlink.tables._dates import TIME_UNITS, spell_time
from mustlink.tables._dialect import Dialect
from mustlink.tables._edges import EdgeList, read_edges
from mustlink.tables._encode import EncodedTable, Feature, encode
from mustlink.tables._encoder import ColumnEncoder, TableEncoder
from mustlink.tables._links import (
    LinkList,
    UnknownIds,
    find_linked_ids,
    ids_in_links,
    read_links,
    read_links_between,
    spell_ids,
    write_links,
)
from mustlink.tables._options import check_options
from mustlink.tables._pair_scores import PairScores, read_pair_scores
from mustlink.tables._questions import check_questions_suffix, read_questions, stage_questions
from mustlink.tables._read import read_table, refuse_reading_options, require
from mustlink.tables._stream import TableStream, is_streamed, open_stream
from mustlink.tables._stream_encoder import StreamEncoding, encode_stream
from mustlink.tables._stream_write import check_streamed_suffix, stage_stream
from mustlink.tables._table import Table
from mustlink.tables._text import read_dialect
from mustlink.tables._write import check_output_suffix, check_sheet_size, stage_clusters, stage_frame, stage_table

__all__ = [
    "TIME_UNITS",
    "BinaryTable",
    "ColumnEncoder",
    "Dialect",
    "EdgeList",
    "EncodedTable",
    "Feature",
    "LinkList",
    "PairScores",
    "StreamEncoding",
    "Table",
    "TableEncoder",
    "TableStream",
    "UnknownIds",
    "check_options",
    "check_output_suffix",
    "check_questions_suffix",
    "check_sheet_size",
    "check_streamed_suffix",
    "encode",
    "encode_stream",
    "find_linked_ids",
    "ids_in_links",
    "is_streamed",
    "open_stream",
    "read_binary",
    "read_dialect",
    "read_edges",
    "read_links",
    "read_links_between",
    "read_pair_scores",
    "read_questions",
    "read_table",
    "refuse_reading_options",
    "require",
    "spell_ids",
    "spell_time",
    "stage_clusters",
    "stage_frame",
    "stage_questions",
    "stage_stream",
    "stage_table",
    "write_links",
]
