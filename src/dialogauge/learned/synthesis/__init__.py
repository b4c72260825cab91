"""Premises and hypotheses made from conversations, after section 4 of Dziri et al. 2019."""

from dialogauge.learned.synthesis.options import Options
from dialogauge.learned.synthesis.synthesis import Synthesis
from dialogauge.learned.synthesis.synthesize import SynthesisResult, synthesize_entailment

__all__ = ["Options", "Synthesis", "SynthesisResult", "synthesize_entailment"]
