# Gets the package for Java as a project of Maven does, from the repository in dist/, and signs with it:
# `sh maven.sh VERSION`, in a folder of its own. What Maven loads of others stays there.
set -eu
rm -rf repository local/zariz lib
mkdir -p repository
tar -xJf ../../../dist/zariz-*-maven.tar.xz --strip-components=1 -C repository
cat >pom.xml <<END
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>project</artifactId>
  <version>1</version>
  <repositories>
    <repository>
      <id>zariz</id>
      <url>file://$PWD/repository</url>
      <releases><checksumPolicy>fail</checksumPolicy></releases>
    </repository>
  </repositories>
  <dependencies>
    <dependency><groupId>zariz</groupId><artifactId>zariz-jca</artifactId><version>$1</version></dependency>
  </dependencies>
</project>
END
maven() {
    mvn --batch-mode --no-transfer-progress --quiet "-Dmaven.repo.local=$PWD/local" -DoutputDirectory=lib "$@"
}
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
maven $plugin:copy-dependencies
for classifier in sources javadoc; do
    maven $plugin:copy-dependencies "-Dclassifier=$classifier"
    test -s "lib/zariz-jca-$1-$classifier.jar"
done
java -cp "lib/zariz-jca-$1.jar" ../../../xtask/src/dist/programs/Sign.java
