package org.hdfsmeld.it;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** What is logged, errors with their stack traces, while it is open. */
final class LogCapture implements AutoCloseable {
  private final StringWriter text = new StringWriter();
  private final Logger root = (Logger) LogManager.getRootLogger();

  private final AbstractAppender appender =
      new AbstractAppender("capture", null, null, true, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          PrintWriter out = new PrintWriter(text);
          out.println(event.getMessage().getFormattedMessage());
          if (event.getThrown() != null) {
            event.getThrown().printStackTrace(out);
          }
        }
      };

  private LogCapture() {
    appender.start();
    root.addAppender(appender);
  }

  static LogCapture start() {
    return new LogCapture();
  }

  String text() {
    return text.toString();
  }

  @Override
  public void close() {
    root.removeAppender(appender);
    appender.stop();
  }
}
