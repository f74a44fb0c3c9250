"""A job from files to files, and a sitting with a person: what command, notebook and studio share."""

from __future__ import annotations

from mustlink.catalogue import ESTIMATORS
from mustlink.workflow._another import AnotherJob, AnotherResult, run_another
from mustlink.workflow._clusterer import build_clusterer
from mustlink.workflow._cocluster import CoclusterJob, CoclusterResult, run_cocluster
from mustlink.workflow._cocluster_links import MatrixLinks
from mustlink.workflow._comparison import ColumnPair, RowComparison
from mustlink.workflow._dedupe import DedupeJob, DedupeResult, run_dedupe
from mustlink.workflow._explanation import ExplanationJob, ExplanationResult, run_explanation
from mustlink.workflow._job import Job, JobResult, reads_in_blocks, run_job
from mustlink.workflow._loading import (
    LoadedTable,
    TableOptions,
    check_n_clusters,
    check_seed,
    load_table,
    read_link_file,
)
from mustlink.workflow._model import Model, check_predicts, is_text_model, load_model, predicting_methods, save_model
from mustlink.workflow._naming import name_rows
from mustlink.workflow._prediction import PredictionJob, PredictionResult, run_prediction
from mustlink.workflow._publication import (
    PublicationJob,
    PublicationResult,
    VerificationJob,
    run_publication,
    run_verification,
)
from mustlink.workflow._records import load_records
from mustlink.workflow._sitting import STRATEGIES, AnswerCounts, Sitting
from mustlink.workflow._taxonomy import TaxonomyJob, TaxonomyResult, run_taxonomy
from mustlink.workflow._teaching import Teaching
from mustlink.workflow._teaching_views import ClusterView, TeachingChange, TermChange, TextMove, TextView
from mustlink.workflow._text_model import TextModel
from mustlink.workflow._text_prediction import TextPredictionResult
from mustlink.workflow._texts import LoadedTexts, TextOptions, load_texts

__all__ = [
    "ESTIMATORS",
    "STRATEGIES",
    "AnotherJob",
    "AnotherResult",
    "AnswerCounts",
    "ClusterView",
    "CoclusterJob",
    "CoclusterResult",
    "ColumnPair",
    "DedupeJob",
    "DedupeResult",
    "ExplanationJob",
    "ExplanationResult",
    "Job",
    "JobResult",
    "LoadedTable",
    "LoadedTexts",
    "MatrixLinks",
    "Model",
    "PredictionJob",
    "PredictionResult",
    "PublicationJob",
    "PublicationResult",
    "RowComparison",
    "Sitting",
    "TableOptions",
    "TaxonomyJob",
    "TaxonomyResult",
    "Teaching",
    "TeachingChange",
    "TermChange",
    "TextModel",
    "TextMove",
    "TextOptions",
    "TextPredictionResult",
    "TextView",
    "VerificationJob",
    "build_clusterer",
    "check_n_clusters",
    "check_predicts",
    "check_seed",
    "is_text_model",
    "load_model",
    "load_records",
    "load_table",
    "load_texts",
    "name_rows",
    "predicting_methods",
    "read_link_file",
    "reads_in_blocks",
    "run_another",
    "run_cocluster",
    "run_dedupe",
    "run_explanation",
    "run_job",
    "run_prediction",
    "run_publication",
    "run_taxonomy",
    "run_verification",
    "save_model",
]
