package org.hdfsmeld;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** What one class logs while this is open. */
public final class LogEvents implements AutoCloseable {
  private final List<LogEvent> events = new CopyOnWriteArrayList<>();
  private final Logger root = (Logger) LogManager.getRootLogger();

  private final AbstractAppender appender =
      new AbstractAppender("events", null, null, true, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          events.add(event.toImmutable());
        }
      };

  private final String logger;

  public LogEvents(Class<?> logger) {
    this.logger = logger.getName();
    appender.start();
    root.addAppender(appender);
  }

  /** So far, the first one first. */
  public List<LogEvent> list() {
    return events.stream().filter(event -> event.getLoggerName().equals(logger)).toList();
  }

  @Override
  public void close() {
    root.removeAppender(appender);
    appender.stop();
  }
}
