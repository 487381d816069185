#include "process/recording.h"

#include "check.h"
#include "image/due_images.h"
#include "image/expectation_watcher.h"
#include "image/heap_snapshot.h"
#include "image/serving_thread.h"
#include "os/process_identity.h"
#include "process/description.h"
#include "process/environment.h"
#include "process/environment_block.h"
#include "process/trace_limit.h"
#include "profile/due_profiles.h"
#include "record/event_buffer.h"
#include "record/image_list.h"
#include "record/memory_sample.h"
#include "record/message.h"
#include "record/pause_notes.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "record/trace_opening.h"
#include "record/type_table.h"
#include "sampling/sampled_sites.h"
#include "sampling/sampled_stack.h"
#include "sampling/sampling_state.h"
#include "thread/hook_switch.h"
#include "thread/own_stack.h"
#include "unwind/stack_capture.h"

static struct lt_recording_observer observer;
static _Atomic uint32_t isForkPending; ///< a followed child: its trace begins with its first event

void lt_recording_observe(struct lt_recording_observer made) { observer = made; }

void lt_recording_has_stopped(void) {
  if (observer.stopped) observer.stopped();
}

bool lt_recording_is_on(void) { return lt_trace_is_writable() && lt_identity_is_claimants(); }

void lt_recording_keep_up(struct lt_thread *t) {
  LT_CHECK(t == lt_tls.thread && t->number > 0);
  lt_snapshot_collect();
  lt_image_list_refresh(t);
  lt_memory_sample(t);
  lt_trace_limit_look();
}

/// The sample period of the trace to open. A child of a process that has switched to sampling samples from its
/// beginning.
static uint64_t sample_period(void) { return atomic_load(&lt_is_sampling) ? lt_settings.laterSamplePeriod : 0; }

static bool open_trace(void) {
  if (!lt_identity_claim()) return false;
  if (lt_settings.outputError) {
    lt_message("not tracing: no path for the trace, neither as it was given nor from the working directory", NULL,
               -lt_settings.outputError);
    return false;
  }
  struct lt_trace_options options = {.pattern = lt_settings.output,
                                     .session = lt_settings.session,
                                     .arcMode = lt_settings.arcMode,
                                     .depthLimit = lt_settings.depthLimit,
                                     .samplePeriod = sample_period(),
                                     .takesImagesBack = lt_settings.takesSnapshots && lt_settings.keptImages};
  uint64_t limit = options.samplePeriod ? 0 : lt_settings.traceLimit;
  if (options.samplePeriod) {
    options.flags |= LT_OPTION_LIGHT;
    options.firstSamples = lt_settings.firstSamples;
  }
  LT_CHECK(!options.samplePeriod || !limit);
  if (limit) {
    options.flags |= LT_OPTION_LIMITED;
    options.samplePeriod = lt_settings.laterSamplePeriod;
  }
  if (lt_settings.followsChildren) options.flags |= LT_OPTION_FOLLOW_CHILDREN;
  if (lt_settings.startsPaused) options.flags |= LT_OPTION_START_PAUSED;
  if (lt_settings.verifiesStacks) options.flags |= LT_OPTION_VERIFY_STACKS;
  if (!lt_trace_open(&options, lt_description_program_name())) return false;
  lt_buffer_on_seal(lt_recording_keep_up);
  lt_snapshot_init(lt_settings.takesSnapshots, lt_settings.keptImages);
  lt_due_images_begin(lt_settings.imageInterval, lt_settings.imageSize);
  lt_due_profiles_begin(lt_settings.profileInterval, lt_settings.laterSamplePeriod);
  lt_trace_limit_begin(limit);
  lt_trace_clock_begin();
  lt_watcher_init(lt_settings.takesSnapshots);
  if (lt_settings.takesSnapshots) {
    if (observer.takesSnapshots) observer.takesSnapshots();
    lt_serving_init();
  }
  return true;
}

static void open_trace_of_child(void *isOpen) { *(bool *)isOpen = open_trace(); }

bool lt_recording_begin(void) {
  LT_CHECK(atomic_load(&lt_hook_mode) == LT_HOOKS_OFF);
  lt_description_name_program();
  return lt_stack_capture_init(lt_settings.depthLimit, lt_settings.verifiesStacks) && open_trace();
}

void lt_recording_forgo(void) {
  lt_hooks_set(LT_HOOKS_OFF);
  atomic_store(&isForkPending, 0);
}

void lt_recording_forget(void) {
  LT_CHECK(!lt_thread_first());
  LT_CHECK(atomic_load(&lt_hook_mode) == LT_HOOKS_OFF);
  lt_snapshot_forget();
  lt_expectations_reset_after_fork();
  lt_watcher_reset_after_fork();
  lt_trace_forget();
  lt_pause_notes_reset_after_fork();
  lt_type_table_reset();
  lt_image_list_reset();
  lt_stack_capture_invalidate();
}

// --- fork ------------------------------------------------------------------------------------------------------------

void lt_process_after_fork(void) {
  lt_hooks_set(LT_HOOKS_OFF);
  lt_environment_block_reset_after_fork();
  lt_snapshot_reset_after_fork();
  lt_expectations_reset_after_fork();
  lt_watcher_reset_after_fork();
  lt_trace_reset_after_fork();
  lt_own_stack_reset_after_fork();
  lt_sampled_stacks_reset_after_fork();
  lt_due_profiles_reset_after_fork();
  lt_thread_reset_after_fork();
  LT_CHECK(!lt_thread_first() && !lt_tls.thread && lt_tls.hookDepth == 0);
  lt_pause_notes_reset_after_fork();
  if (!lt_settings.followsChildren) return;
  lt_type_table_reset();
  lt_image_list_reset();
  lt_stack_capture_invalidate();
  lt_description_reset_after_fork();
  if (observer.forked) observer.forked();
  // The child inherits the parent's blocks with their stacks.
  lt_sampled_sites_reset();
  atomic_store(&isForkPending, 1);
  lt_hooks_set(LT_HOOKS_ON);
}

bool lt_process_is_ours(void) {
  if (LT_UNLIKELY(atomic_load(&isForkPending))) {
    uint32_t yes = 1;
    if (!atomic_compare_exchange_strong(&isForkPending, &yes, 0)) return false;
    bool isOpen = false;
    lt_on_own_stack(open_trace_of_child, &isOpen);
    if (!isOpen) {
      lt_hooks_set(LT_HOOKS_OFF);
      return false;
    }
    return true;
  }
  if (LT_LIKELY(lt_identity_is_claimants())) return true;
  // A child that shares our memory for a moment (vfork) must not write to our trace, and every change it makes here is
  // made for us.
  if (lt_identity_shares_memory()) return false;
  // A child whose fork bypassed the C library.
  uint32_t depth = lt_tls.hookDepth;
  LT_CHECK(depth <= 1);
  lt_process_after_fork();
  lt_tls.hookDepth = depth;
  return lt_settings.followsChildren && lt_process_is_ours();
}
