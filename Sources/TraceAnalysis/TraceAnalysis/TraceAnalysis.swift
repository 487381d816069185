// Exports all analysis modules under one name. Other packages can use only the public parts: `AnalyzedTrace` and its
// results.

@_exported import AgentProtocol
@_exported import AllocationReports
@_exported import FeatureChecks
@_exported import HeapAnalysis
@_exported import LeakDetection
@_exported import LeakGates
@_exported import PageReports
@_exported import ProcessAttachment
@_exported import ProcessInspection
@_exported import RunDiff
@_exported import TextWriting
@_exported import TraceDatabase
@_exported import TraceExports
@_exported import TraceReading
@_exported import TraceRecording
@_exported import TraceReports
@_exported import TraceSymbolication
@_exported import Wording
