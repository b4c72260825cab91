"""Premises and hypotheses made from conversations, after section 4 of Dziri et al. 2019."""

from dialogauge.learn.synthesis.entailment import synthesize_entailment
from dialogauge.learn.synthesis.options import Options
from dialogauge.learn.synthesis.summary import SynthesisResult
from dialogauge.learn.synthesis.synthesis import Synthesis

__all__ = ["Options", "Synthesis", "SynthesisResult", "synthesize_entailment"]
