// SPDX-License-Identifier: Apache-2.0
#pragma once

// A guest in a main context of GLib. Header-only: whoever includes this links glib-2.0.
//
// Idle      A GMainLoop does not end by itself; on_idle can quit it.
// Waiting   enter() iterates the main context meanwhile.

#include <glib-unix.h>
#include <glib.h>

#include <utility>

#include "fermata/host/guest.hpp"

namespace fermata::host {

class GlibGuest final : public Guest {
 public:
  /// In `context`, null for the default one, of which it takes a reference. Throws
  /// InputOutputError, StackExhausted.
  explicit GlibGuest(GMainContext* context = nullptr, GuestOptions options = {})
      : Guest("hosted by GLib", std::move(options)),
        context_(g_main_context_ref(context != nullptr ? context : g_main_context_default())),
        source_(g_unix_fd_source_new(descriptor(), G_IO_IN)) {
    const GUnixFDSourceFunc dispatch = [](gint, GIOCondition, gpointer guest) noexcept -> gboolean {
      static_cast<GlibGuest*>(guest)->on_readable();
      return G_SOURCE_CONTINUE;
    };
    g_source_set_callback(source_, G_SOURCE_FUNC(dispatch), this, nullptr);
    g_source_set_can_recurse(source_, TRUE);
    g_source_attach(source_, context_);
  }

  ~GlibGuest() override {
    end();
    g_source_destroy(source_);
    g_source_unref(source_);
    g_main_context_unref(context_);
  }

  [[nodiscard]] bool can_turn_host() const noexcept override { return true; }

  /// Sets the priority of the source, which starts with the default one.
  void set_priority(int priority) noexcept { g_source_set_priority(source_, priority); }

 private:
  bool turn_host(bool) override {
    g_main_context_iteration(context_, TRUE);
    return true;
  }

  void on_readable() noexcept {
    if (!inside()) pump();
  }

  GMainContext* context_;
  GSource* source_;
};

}  // namespace fermata::host
